# %% [markdown]
# # First steps
#
# This notebook trains a model on facts about Nobel laureates and asks it questions. It needs `pip install nary`, no
# other files, and a few seconds on one core.

# %%
import nary

data = nary.load("nobel")
data

# %% [markdown]
# A dataset holds facts in splits. A fact is a triple of subject, relation and object, with any number of qualifiers.
# The last line of a cell draws it:

# %%
fact = next(fact for fact in data if fact.subject == "Marie Curie" and fact.arity > 4)
fact

# %% [markdown]
# ## Train and evaluate
#
# The model `rules` counts which facts follow from which others and takes seconds. `nary.list_models()` lists the
# others, such as `gran`, a transformer. `evaluate` masks each element of each test fact in turn and ranks the right
# answer among all candidates.

# %%
result = nary.train(data, model="rules")
result

# %%
report = result.model.evaluate("test")
report

# %% [markdown]
# ## Ask
#
# `?` marks what is missing. This fact is in the test split, so the model has not learned from it.

# %%
model = result.model
query = nary.parse_query(
    "C. V. Raman | award received | ? | affiliation: University of Calcutta | point in time: 1930 | prize share: 1"
)
query

# %%
prediction = model.predict(query, k=5)
prediction

# %% [markdown]
# What stored facts answer comes first, then what the model expects; `known="hide"` shows the latter only. Answers are a
# sequence, and a data frame of polars or pandas:

# %%
best = prediction[0]
best.label, best.probability, best.stored

# %%
prediction.to_polars().select("rank", "label", "probability", "known", "split")

# %% [markdown]
# ## Doubt
#
# `score` says how plausible a fact is, and which of its elements fits least. `suggest` completes it with qualifiers.

# %%
(doubtful,) = model.score(["Albert Einstein | award received | Nobel Peace Prize | point in time: 1921"])
doubtful

# %%
model.suggest("Marie Curie | award received | Nobel Prize in Physics", k=4)

# %% [markdown]
# ## Keep
#
# `save` writes a model folder, and `load_model` reads it again. With `out=`, training writes a run folder with log
# and checkpoints instead, from which `nary.resume` continues after an interruption.

# %%
model.save("laureates")
nary.load_model("laureates")
