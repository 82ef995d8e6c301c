"""Blend trained models: fit the weights of a mix on valid facts, and tell what each part is worth."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nary.data.dataset import Dataset
from nary.errors import SettingError
from nary.evaluation.evaluate import evaluate
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.metrics import GROUPS
from nary.evaluation.protocol import Protocol
from nary.evaluation.ranks import ROLES
from nary.evaluation.report import Report
from nary.facts import FactTable, Role
from nary.models.blend.model import Blend
from nary.models.blend.settings import BLEND, BlendSettings, PartSettings
from nary.progress import Progress, no_progress
from nary.recipe import Recipe
from nary.runs.blend_sample import Sample, sample_queries
from nary.runs.blend_weights import Weights, alone, fit_weights
from nary.runs.trained_model import TrainedModel

_MAX_FACTS = 10_000
"""The largest number of valid facts that weights are fitted on."""
_MRR = Mapping[str, float]
"""The MRR by query group."""


@dataclass(frozen=True)
class Part:
    """A trained model to blend; ``seconds`` is what its training took, if that is known."""

    name: str
    model: TrainedModel
    seconds: float | None = None


@dataclass(frozen=True)
class PartResult:
    """What a part of a blend, or the blend itself, is worth on the valid facts, and what it cost."""

    name: str
    mrr: _MRR
    seconds: float | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"name": self.name, "mrr": dict(self.mrr), "seconds": self.seconds}


@dataclass(frozen=True)
class Blended:
    """A blend with what its parts are worth; ``seconds`` is the time of fitting."""

    model: TrainedModel
    parts: Sequence[PartResult]
    mrr: _MRR
    seconds: float


def blend_parts(parts: Sequence[Part], recipe: Recipe | None = None, progress: Progress = no_progress) -> Blended:
    """A blend of ``parts``, never worse on the valid facts than the best of them for each role.

    Test facts have no influence, not even as known answers. ``recipe`` is that of the blend, if there is one already.
    """
    check_parts(parts)
    start = time.perf_counter()
    recipe = recipe or _recipe(parts)
    dataset = parts[0].model.dataset
    modules = [part.model.module for part in parts]
    module = Blend(_settings(recipe), recipe.dataset_info(dataset), modules).to(parts[0].model.device).eval()
    facts = _held_out(dataset)
    protocol = Protocol(filter=recipe.evaluation.filter, filter_splits=["train", "valid"])
    known = KnownAnswers([dataset.train, dataset.valid], protocol.filter)
    samples = sample_queries(modules, facts, known, progress)
    weights = fit_weights(samples, Weights(module.weight.cpu(), module.temperature.cpu()))
    # A part may know whole facts well and be at a loss if qualifiers are left out.
    partial = sample_queries(modules, facts, known, progress, partial=True) if max(facts.arities) > 2 else samples
    weights = fit_weights(partial, weights, partial=True)
    report, mrr = _measure(module, weights, dataset, facts, protocol)
    if worse := _worse_roles(samples, mrr):  # the sample was misleading
        for role, part in worse.items():
            weights = alone(weights, role, part)
        report, mrr = _measure(module, weights, dataset, facts, protocol)
    model = TrainedModel(module, dataset, recipe, [report])
    results = [PartResult(part.name, _part_mrr(samples, i), part.seconds) for i, part in enumerate(parts)]
    return Blended(model, results, mrr, time.perf_counter() - start)


def check_parts(parts: Sequence[Part]) -> None:
    """Refuse models that cannot be blended."""
    if not parts:
        raise SettingError("no models to blend", "Give two or more runs.")
    for part in parts:
        _check_part(part)
    first = parts[0].model.dataset
    for part in parts[1:]:
        if part.model.dataset.fingerprint != first.fingerprint:
            raise SettingError(
                f"{parts[0].name} and {part.name} were trained on different data: "
                f"{_difference(first, part.model.dataset)}",
                "Train all parts on the same dataset with the same data.valid_fraction.",
            )


def part_names(models: Sequence[str]) -> list[str]:
    """A name for each part: that of its model, numbered from the second of the same model."""
    names: list[str] = []
    for number, model in enumerate(models):
        earlier = list(models[:number]).count(model)
        names.append(f"{model}-{earlier + 1}" if earlier else model)
    return names


def _check_part(part: Part) -> None:
    recipe, dataset = part.model.recipe, part.model.dataset
    if recipe.model_name == BLEND:
        raise SettingError(f"{part.name} is a blend, which cannot be part of another", "Give the runs it was made of.")
    if "valid" in recipe.data.train_on:
        raise SettingError(
            f"{part.name} has learned from valid, on which the weights of a blend are fitted",
            'Train it with --set data.train_on=["train"]; with --set data.valid_fraction=0.1 it learns from most of '
            "valid and holds out the rest.",
        )
    if not len(dataset.splits.get("valid", ())):
        raise SettingError(
            f"{part.name} has no valid facts to fit the weights of a blend on",
            "Train it with --set data.valid_fraction=0.1, which holds facts out of train.",
        )


def _difference(first: Dataset, second: Dataset) -> str:
    """In what two datasets differ, in a few words."""
    for split in dict.fromkeys([*first.splits, *second.splits]):
        sizes = [len(dataset.splits.get(split, ())) for dataset in (first, second)]
        if sizes[0] != sizes[1]:
            return f"{sizes[0]:,} and {sizes[1]:,} {split} facts"
    for what in ("entities", "relations"):
        sizes = [len(getattr(dataset.vocabulary, what)) for dataset in (first, second)]
        if sizes[0] != sizes[1]:
            return f"{sizes[0]:,} and {sizes[1]:,} {what}"
    return "as many facts and names, but not the same ones"


def _recipe(parts: Sequence[Part]) -> Recipe:
    """The recipe that trains and blends the same parts."""
    tables = [part.model.recipe.as_tables() for part in parts]
    settings = [{key: one[key] for key in PartSettings.model_fields} for one in tables]
    common = {key: tables[0][key] for key in ("data", "evaluation")}
    return Recipe.from_tables({**common, "model": {"name": BLEND, "parts": settings}})


def _settings(recipe: Recipe) -> BlendSettings:
    if not isinstance(recipe.model, BlendSettings):
        raise AssertionError("the recipe of a blend has the settings of one")
    return recipe.model


def _held_out(dataset: Dataset) -> FactTable:
    """The valid facts, or a sample if they are very many."""
    facts = dataset.valid
    if len(facts) <= _MAX_FACTS:
        return facts
    return facts.take(np.sort(np.random.default_rng(0).choice(len(facts), _MAX_FACTS, replace=False)))


def _measure(
    module: Blend, weights: Weights, dataset: Dataset, facts: FactTable, protocol: Protocol
) -> tuple[Report, dict[str, float]]:
    """Set the weights and rank ``facts``: the report and the MRR by group and role."""
    with torch.no_grad():
        module.weight.copy_(weights.weight)
        module.temperature.copy_(weights.temperature)
    report, ranks = evaluate(module, dataset, "valid", protocol, table=facts)
    reciprocal = {role: 1 / ranks.rank()[ranks.role == ROLES.index(role)] for role in module.roles}
    return report, _by_group(reciprocal)


def _part_mrr(samples: Mapping[Role, Sample], part: int) -> dict[str, float]:
    """The MRR of a part by group and role."""
    ranks = {role: sample.ranks[:, part].numpy() for role, sample in samples.items()}
    return _by_group({role: 1 / one for role, one in ranks.items() if np.isfinite(one[0])})


def _by_group(reciprocal_ranks: Mapping[Role, npt.NDArray[np.floating]]) -> dict[str, float]:
    groups = {**GROUPS, **{role.value: (role,) for role in (Role.SUBJECT, Role.OBJECT)}}
    mrr = {}
    for group, roles in groups.items():
        ranks = [reciprocal_ranks[role] for role in roles if len(reciprocal_ranks.get(role, ()))]
        if ranks:
            mrr[group] = float(np.concatenate(ranks).mean())
    return mrr


def _worse_roles(samples: Mapping[Role, Sample], mrr: _MRR) -> dict[Role, int]:
    """The roles for which the best part is better than the blend, and the number of that part."""
    worse = {}
    for role, sample in samples.items():
        by_part = (1 / sample.ranks).mean(0)
        if float(by_part.max()) > mrr["primary" if role is Role.RELATION else role.value] + 1e-6:
            worse[role] = int(by_part.argmax())
    return worse
