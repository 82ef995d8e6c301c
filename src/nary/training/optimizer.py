"""The optimizers, and how the learning rate goes; Adam with decoupled decay is that of the published GRAN runs."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nary.models.alternation import Phase
from nary.training.settings import TrainingSettings

_BETAS = (0.9, 0.999)


def rate_at(step: int, steps: int, settings: TrainingSettings) -> float:
    """The learning rate of a step, counted from 0, of so many steps.

    An exponential one falls after each epoch. A linear one climbs from 0 to its peak and then falls in a straight line
    to (almost) 0. As published that line starts at step 0, so the rate jumps down where the warm-up ends; without the
    jump it starts there.
    """
    if settings.lr_scheduler == "exponential":
        return settings.learning_rate * settings.lr_gamma ** (step * settings.epochs // steps)
    warmup = settings.warmup_ratio * steps
    if step < warmup:
        return settings.learning_rate * step / warmup
    if settings.warmup_jump:
        return settings.learning_rate * (1 - step / steps)
    return settings.learning_rate * (steps - step) / (steps - warmup)


class Optimizer:
    """Clips the gradient, then takes a step with the rate of that step.

    Each of ``phases`` has an Adam of its own, which goes on in the next round where it was.
    """

    def __init__(self, model: nn.Module, settings: TrainingSettings, steps: int, phases: Sequence[Phase] = ()) -> None:
        self.settings = settings
        self.steps = steps
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.inner = _make(settings, _groups(model, settings))
        self.of_phase = {phase: torch.optim.Adam(phase.parameters, phase.rate, _BETAS, fused=True) for phase in phases}

    @property
    def state_items(self) -> list[tuple[torch.optim.Optimizer, Tensor]]:
        """Who remembers something of which parameter; always in the same order."""
        found: list[tuple[torch.optim.Optimizer, Tensor]] = [(self.inner, own) for own in self.parameters]
        return found + [(inner, own) for phase, inner in self.of_phase.items() for own in phase.parameters]

    def rate(self, step: int, phase: Phase | None = None) -> float:
        """The learning rate of a step."""
        return rate_at(step, self.steps, self.settings) if phase is None else phase.rate

    def step(self, step: int, phase: Phase | None = None) -> None:
        """Update the parameters, or those of the phase, from their gradients, and forget all gradients."""
        if self.settings.max_grad_norm:
            nn.utils.clip_grad_norm_(
                self.parameters if phase is None else phase.parameters, self.settings.max_grad_norm
            )
        if phase is None:
            self._step(step)
        else:
            self.of_phase[phase].step()
        self.inner.zero_grad(set_to_none=True)

    def _step(self, step: int) -> None:
        settings = self.settings
        epsilon = settings.adam_epsilon
        if settings.adam_epsilon_on == "uncorrected":  # the same as adding it before the correction of the moment
            epsilon /= (1 - _BETAS[1] ** (step + 1)) ** 0.5
        for group in self.inner.param_groups:
            group["lr"] = self.rate(step) * group["factor"]
            if settings.optimizer == "adam":
                group["eps"] = epsilon
        self.inner.step()


def _groups(model: nn.Module, settings: TrainingSettings) -> list[dict[str, Any]]:
    """The parameters by their decay, and by the factor of their rate."""
    found: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            decay = 0.0 if settings.weight_decay_on == "matrices" and parameter.dim() <= 1 else settings.weight_decay
            factor = settings.entity_lr_scale if name.rpartition(".")[2].startswith("entity") else 1.0
            found.setdefault((decay, factor), []).append(parameter)
    return [{"params": own, "weight_decay": decay, "factor": factor} for (decay, factor), own in found.items()]


def _make(settings: TrainingSettings, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    if settings.optimizer == "adam":
        return torch.optim.AdamW(groups, lr=0.0, betas=_BETAS, fused=True)
    kind = torch.optim.Adagrad if settings.optimizer == "adagrad" else torch.optim.SGD
    return kind(groups, lr=0.0)
