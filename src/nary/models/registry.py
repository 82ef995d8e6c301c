"""Every model by name; its code is imported when it is needed."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nary.config import Settings
from nary.errors import SettingError, did_you_mean

if TYPE_CHECKING:
    from nary.models.contract import Model, Sizes


@dataclass(frozen=True)
class Entry:
    """Where a model and its settings are, and what to say about it."""

    name: str
    family: str
    settings_at: str
    model_at: str
    source: str
    about: str

    @property
    def settings(self) -> type[Settings]:
        """The class of the model's settings."""
        return _imported(self.settings_at)

    def make(self, settings: Settings, sizes: "Sizes") -> "Model":
        """A new model."""
        return _imported(self.model_at)(settings, sizes)

    @property
    def losses(self) -> list[str]:
        """What the model can be trained with."""
        return sorted(_imported(self.model_at).losses)

    def roles_of(self, settings: Settings) -> list[str]:
        """The roles a model with these settings predicts."""
        return sorted(role.value for role in _imported(self.model_at).roles_of(settings))

    @property
    def positions(self) -> list[str]:
        """The roles the model can predict."""
        return sorted(role.value for role in _imported(self.model_at).roles)


_ENTRIES = (
    Entry(
        "gran",
        "attention",
        "nary.models.gran.settings:GranSettings",
        "nary.models.gran.model:Gran",
        "Wang et al., Link Prediction on N-ary Relational Facts: A Graph-based Approach, Findings of ACL 2021",
        "a fact as a small typed graph, encoded by attention with biases for its edges",
    ),
    Entry(
        "hy-transformer",
        "attention",
        "nary.models.hy_transformer:HyTransformerSettings",
        "nary.models.hy_transformer:HyTransformer",
        "Yu, Yang, Improving Hyper-Relational Knowledge Graph Completion, arXiv:2104.08167, 2021",
        "a shallow transformer over the masked statement, without a graph",
    ),
    Entry(
        "stare",
        "graph encoder",
        "nary.models.stare.settings:StareSettings",
        "nary.models.stare.model:Stare",
        "Galkin et al., Message Passing for Hyper-Relational Knowledge Graphs, EMNLP 2020",
        "messages along the facts, qualifiers included, and a transformer over the question",
    ),
    Entry(
        "n-cp",
        "tensor",
        "nary.models.tuples.n_cp:NCPSettings",
        "nary.models.tuples.n_cp:NCP",
        "Liu, Yao, Li, Generalizing Tensor Decomposition for N-ary Relational Knowledge Bases, WWW 2020",
        "a product of vectors, one for each entity in each slot",
    ),
    Entry(
        "n-tucker",
        "tensor",
        "nary.models.tuples.n_tucker:NTuckERSettings",
        "nary.models.tuples.n_tucker:NTuckER",
        "Liu, Yao, Li, Generalizing Tensor Decomposition for N-ary Relational Knowledge Bases, WWW 2020",
        "a tensor for each arity, multiplied with the vectors of a tuple",
    ),
    Entry(
        "getd",
        "tensor",
        "nary.models.tuples.getd:GETDSettings",
        "nary.models.tuples.getd:GETD",
        "Liu, Yao, Li, Generalizing Tensor Decomposition for N-ary Relational Knowledge Bases, WWW 2020",
        "n-TuckER with its tensors as rings of small factors",
    ),
    Entry(
        "hype",
        "multilinear",
        "nary.models.tuples.hype:HypESettings",
        "nary.models.tuples.hype:HypE",
        "Fatemi et al., Knowledge Hypergraphs: Prediction Beyond Binary Relations, IJCAI 2020",
        "a product of vectors that went through convolutions of their slots",
    ),
    Entry(
        "m-distmult",
        "multilinear",
        "nary.models.tuples.m_distmult:MDistMultSettings",
        "nary.models.tuples.m_distmult:MDistMult",
        "Fatemi et al., Knowledge Hypergraphs: Prediction Beyond Binary Relations, IJCAI 2020",
        "a product of vectors, the same in each slot",
    ),
    Entry(
        "m-cp",
        "multilinear",
        "nary.models.tuples.m_cp:MCPSettings",
        "nary.models.tuples.m_cp:MCP",
        "Fatemi et al., Knowledge Hypergraphs: Prediction Beyond Binary Relations, IJCAI 2020",
        "a product of vectors, one for each entity in each slot, trained like HypE",
    ),
    Entry(
        "hsimple",
        "multilinear",
        "nary.models.tuples.hsimple:HSimplESettings",
        "nary.models.tuples.hsimple:HSimplE",
        "Fatemi et al., Knowledge Hypergraphs: Prediction Beyond Binary Relations, IJCAI 2020",
        "a product of vectors, rotated by their slots",
    ),
    Entry(
        "ram",
        "multilinear",
        "nary.models.tuples.ram:RAMSettings",
        "nary.models.tuples.ram:RAM",
        "Liu, Yao, Li, Role-Aware Modeling for N-ary Relational Knowledge Bases, WWW 2021",
        "products of the parts of entities, by the roles that the slots of a relation play",
    ),
    Entry(
        "m-transh",
        "translation",
        "nary.models.tuples.m_transh:MTransHSettings",
        "nary.models.tuples.m_transh:MTransH",
        "Wen et al., On the Representation and Embedding of Knowledge Bases beyond Binary Relations, IJCAI 2016",
        "a distance on the hyperplane of the relation",
    ),
    Entry(
        "rae",
        "translation",
        "nary.models.tuples.rae:RAESettings",
        "nary.models.tuples.rae:RAE",
        "Zhang et al., Scalable Instance Reconstruction in Knowledge Bases via Relatedness Affiliated Embedding, "
        "WWW 2018",
        "m-TransH, and a network that tells which entities can stand together",
    ),
    Entry(
        "nalp",
        "pairs",
        "nary.models.pairs.nalp:NaLPSettings",
        "nary.models.pairs.nalp:NaLP",
        "Guan et al., Link Prediction on N-ary Relational Data, WWW 2019",
        "pairs of role and value, and whether every two of them go together",
    ),
    Entry(
        "hinge",
        "pairs",
        "nary.models.pairs.hinge:HingeSettings",
        "nary.models.pairs.hinge:Hinge",
        "Rosso, Yang, Cudré-Mauroux, Beyond Triplets: Hyper-Relational Knowledge Graph Embedding for Link Prediction, "
        "WWW 2020",
        "convolutions over the triple, and over the triple with each qualifier",
    ),
    Entry(
        "neuinfer",
        "pairs",
        "nary.models.pairs.neuinfer:NeuInferSettings",
        "nary.models.pairs.neuinfer:NeuInfer",
        "Guan et al., NeuInfer: Knowledge Inference on N-ary Facts, ACL 2020",
        "is the triple valid, and do its qualifiers go with it",
    ),
    Entry(
        "frequency",
        "baseline",
        "nary.models.frequency:FrequencySettings",
        "nary.models.frequency:Frequency",
        "Nary",
        "answers with what stands most often in that place: the floor every system must beat",
    ),
)
MODELS = {entry.name: entry for entry in _ENTRIES}


def find(name: str) -> Entry:
    """The model of that name; an error that lists the nearest names if there is none."""
    if name not in MODELS:
        raise SettingError(f"unknown model {name!r}", did_you_mean(name, MODELS))
    return MODELS[name]


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
