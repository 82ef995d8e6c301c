"""What the weights of a blend are fitted on: queries of valid facts, with the scores of all parts for some candidates.

The best candidates of each part are kept as they are. A random sample stands for all others.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nary.evaluation.given import give
from nary.evaluation.known_answers import KnownAnswers
from nary.evaluation.queries import MaskedBlock, mask_table
from nary.facts import FactTable, Role
from nary.models.base import Model
from nary.models.batch import Batch, Group
from nary.models.blend.model import places
from nary.progress import Progress, no_progress

_BEST = 64
_OTHERS = 64
_CHUNK = 256
_MEMORY = 1 << 27  # bytes of scores held at a time


class Sample(NamedTuple):
    """Q queries for one role."""

    relation: Tensor
    """The relation, or the attribute of a value [Q]."""
    margins: Tensor
    """How much higher than the answer each part scores each of K candidates [Q, K, P]."""
    counts: Tensor
    """How many candidates each stands for [Q, K]; 0 for what is no candidate."""
    ranks: Tensor
    """The rank of the answer among all candidates by each part alone [Q, P]; infinite if it does not predict them."""

    @property
    def predicting(self) -> Tensor:
        """The numbers of the parts that predict the role."""
        return self.ranks[0].isfinite().nonzero()[:, 0]


def sample_queries(
    parts: Sequence[Model],
    facts: FactTable,
    known: KnownAnswers,
    progress: Progress = no_progress,
    *,
    partial: bool = False,
) -> dict[Role, Sample]:
    """Queries for each role that some part predicts; parts that do not predict it have margins of 0.

    Other known answers are no candidates. ``partial`` queries give at most one qualifier of half of the facts, and none
    of the others.
    """
    roles = frozenset[Role]().union(*(part.roles for part in parts))
    blocks = _shortened(facts, roles) if partial else mask_table(facts, roles)[0]
    samples: dict[Role, list[Sample]] = {}
    done, total = 0, sum(map(len, blocks))
    generator = torch.Generator().manual_seed(0)
    for masked in blocks:
        for chunk in _chunks(parts, masked):
            samples.setdefault(masked.role, []).append(_sample(parts, masked, chunk, known, generator))
            done += chunk.stop - chunk.start
            progress(done, total)
    return {role: Sample(*map(torch.cat, zip(*chunks, strict=True))) for role, chunks in samples.items()}


def _shortened(facts: FactTable, roles: frozenset[Role]) -> list[MaskedBlock]:
    halves = (facts.take(np.arange(given, len(facts), 2)) for given in (0, 1))
    return [block for given, half in enumerate(halves) for block in give(mask_table(half, roles)[0], given)]


def _chunks(parts: Sequence[Model], masked: MaskedBlock) -> Iterator[slice]:
    row_bytes = 4 * parts[0].info.num_candidates(masked.kind) * (len(parts) + 1)
    size = max(1, min(_CHUNK, _MEMORY // row_bytes))
    for start in range(0, len(masked), size):
        yield slice(start, min(start + size, len(masked)))


@torch.inference_mode()
def _sample(
    parts: Sequence[Model], masked: MaskedBlock, chunk: slice, known: KnownAnswers, generator: torch.Generator
) -> Sample:
    ids = torch.from_numpy(masked.ids[chunk].astype(np.int64))
    partial = None if masked.shortened is None else torch.ones(len(ids), dtype=torch.bool)
    group = Group(ids, torch.full((len(ids),), masked.column), partial=partial)
    answers = group.answers[:, None]
    others = _other_answers(masked, chunk, known)
    margins, ranks, best = [], [], [answers]
    for part in parts:
        if masked.role not in part.roles:
            margins.append(torch.zeros(1, 1).expand(len(ids), part.info.num_candidates(masked.kind)))
            ranks.append(torch.full((len(ids),), torch.inf))
            continue
        scores = part.score(Batch([group]).to(_device(part)), masked.kind).float().cpu()
        scores = scores - scores.gather(1, answers)
        scores[others] = -torch.inf
        margins.append(scores)
        ranks.append((scores > 0).sum(1) + ((scores == 0).sum(1) + 1) / 2)
        best.append(scores.topk(min(_BEST, scores.shape[1])).indices)
    candidates, counts = _choose(torch.cat(best, 1), others, margins[0].shape[1], generator)
    chosen = torch.stack([margin.gather(1, candidates) for margin in margins], -1)
    chosen[counts == 0] = 0
    return Sample(places(group, parts[0].info.num_relations)[1], chosen, counts, torch.stack(ranks, -1))


def _other_answers(masked: MaskedBlock, chunk: slice, known: KnownAnswers) -> tuple[Tensor, Tensor]:
    """Rows and ids of the known answers other than the right one."""
    starts, ids = known.of(masked.ids[chunk], masked.column, contained=masked.shortened is not None)
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = ids != masked.answers[chunk][rows]
    return torch.from_numpy(rows[kept]), torch.from_numpy(ids[kept])


def _choose(
    best: Tensor, others: tuple[Tensor, Tensor], num_candidates: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Candidates [n, K], and how many each stands for: each of ``best`` [n, b] once for itself."""
    size = len(best)
    taken = torch.zeros(size, num_candidates, dtype=torch.bool)
    taken[others] = True
    counts = torch.zeros(size, best.shape[1])
    rows = torch.arange(size)
    for place in range(best.shape[1]):  # a candidate may be the best of several parts
        counts[:, place] = (~taken[rows, best[:, place]]).float()
        taken[rows, best[:, place]] = True
    random = torch.randint(num_candidates, (size, _OTHERS), generator=generator)
    free = ~taken.gather(1, random)
    left = num_candidates - taken.sum(1, keepdim=True)
    shares = free * (left / free.sum(1, keepdim=True).clamp(min=1))
    return torch.cat([best, random], 1), torch.cat([counts, shares], 1)


def _device(model: Model) -> torch.device:
    tensor = next(model.parameters(), None)
    return torch.device("cpu") if tensor is None else tensor.device
