# %% [markdown]
# # From your data to a service
#
# This notebook takes a table of a company's relations to a model that finds doubtful rows, and serves it over HTTP.
# It needs `pip install 'nary[serve]'`. The table is invented by the first cell; put your own CSV file in its place.

# %%
import json
import subprocess
import sys
from urllib.request import Request, urlopen

import polars as pl

import nary
from nary.data.company import generate_property_graph

company = generate_property_graph(edges=1500)
company.edges.write_csv("edges.csv")
company.nodes.write_csv("nodes.csv")

# %% [markdown]
# ## Import
#
# Each row becomes a fact: `start`, `type` and `end` are guessed from the names of the columns or given by keyword,
# and every other column is a qualifier. Numbers and dates become literals.

# %%
edges, nodes = pl.read_csv("edges.csv", try_parse_dates=True), pl.read_csv("nodes.csv", try_parse_dates=True)
edges.head(3)

# %%
data = nary.Dataset.from_dataframe(edges, nodes, name="company")
data

# %%
next(fact for fact in data if fact.arity > 3)

# %% [markdown]
# ## Train
#
# Rules take seconds and explain themselves. Without `model`, Nary trains rules and learned models for ten minutes and
# blends them. Data without splits is split 80/10/10.

# %%
model = nary.train(data, model="rules", out="run").model
model.evaluate("test")

# %% [markdown]
# ## Find what looks wrong
#
# Every fact gets a plausibility. The least plausible rows come first; `position` tells which element fits least.

# %%
scores = model.score(list(data))
worst = sorted(scores, key=lambda score: score.plausibility)[:5]
pl.DataFrame(
    [
        {"fact": score.fact, "plausibility": score.plausibility, "fits least": score.elements[0].position}
        for score in worst
    ]
)

# %% [markdown]
# ## Serve
#
# `nary serve run` serves the model with a page to explore it. Here it runs beside the notebook at any free port.

# %%
command = [sys.executable, "-m", "nary", "serve", "run", "--port", "0", "--json"]
server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
assert server.stdout is not None
address = json.loads(server.stdout.readline())["address"]


# %%
def ask(fact: str, k: int = 3) -> list[tuple[str, float]]:
    """The best answers of the service."""
    body = json.dumps({"fact": fact, "k": k}).encode()
    with urlopen(Request(f"{address}api/predict", body, {"Content-Type": "application/json"})) as response:
        return [(answer["label"], round(answer["probability"], 3)) for answer in json.load(response)["answers"]]


ask("P5 | WORKS_AT | ?")

# %%
server.terminate()
server.wait()
