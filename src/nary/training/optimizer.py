"""Optimizers and learning-rate schedules; Adam with decoupled weight decay is that of the published GRAN runs."""

from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nary.models.alternation import Phase
from nary.training.settings import TrainingSettings

_BETAS = (0.9, 0.999)


def learning_rate_at(step: int, steps: int, settings: TrainingSettings) -> float:
    """The learning rate of a step, counted from 0, of ``steps`` steps.

    The exponential schedule decays after each epoch. The linear one warms up from 0 to its peak, then decays along a
    straight line to (almost) 0. As published that line starts at step 0, so the rate jumps down where the warm-up ends;
    without ``warmup_jump`` it starts there.
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
    """Clips the gradient, then updates the parameters with the learning rate of the step.

    Each of ``phases`` has an Adam of its own, whose state is kept from round to round. Parameters named in ``without``
    are left alone.
    """

    def __init__(
        self,
        model: nn.Module,
        settings: TrainingSettings,
        steps: int,
        phases: Sequence[Phase] = (),
        without: Collection[str] = (),
    ) -> None:
        self.settings = settings
        self.steps = steps
        groups = _parameter_groups(model, settings, without)
        self.parameters = [
            parameter for name, parameter in model.named_parameters() if parameter.requires_grad and name not in without
        ]
        self.inner = _make(settings, groups)
        self.whole_norm: Tensor | None = None
        """The norm of the whole gradient, if parts of it are elsewhere."""
        self.phase_optimizers = {
            phase: torch.optim.Adam(phase.parameters, phase.rate, _BETAS, fused=True) for phase in phases
        }

    @property
    def state_items(self) -> list[tuple[torch.optim.Optimizer, Tensor]]:
        """Each optimizer with each of its parameters, always in the same order."""
        items: list[tuple[torch.optim.Optimizer, Tensor]] = [(self.inner, parameter) for parameter in self.parameters]
        for phase, optimizer in self.phase_optimizers.items():
            items += [(optimizer, parameter) for parameter in phase.parameters]
        return items

    def expected_state(self, inner: torch.optim.Optimizer, parameter: Tensor) -> dict[str, Tensor]:
        """What ``inner`` keeps for ``parameter`` after a step: names, shapes and types, with values of no meaning."""
        if isinstance(inner, torch.optim.SGD):
            return {}
        moments = ("sum",) if isinstance(inner, torch.optim.Adagrad) else ("exp_avg", "exp_avg_sq")
        return {"step": torch.zeros(()), **dict.fromkeys(moments, parameter)}

    def learning_rate(self, step: int, phase: Phase | None = None) -> float:
        """The learning rate of a step."""
        return learning_rate_at(step, self.steps, self.settings) if phase is None else phase.rate

    def step(self, step: int, phase: Phase | None = None) -> None:
        """Update the parameters, or those of the phase, and clear all gradients."""
        self._clip(self.parameters if phase is None else phase.parameters)
        if phase is None:
            self._step(step)
        else:
            self.phase_optimizers[phase].step()
        self.inner.zero_grad(set_to_none=True)

    def _clip(self, parameters: Sequence[Tensor]) -> None:
        if limit := self.settings.max_grad_norm:
            norm = self.whole_norm
            if norm is None:
                norm = nn.utils.get_total_norm([one.grad for one in parameters if one.grad is not None])
            nn.utils.clip_grads_with_norm_(parameters, limit, norm)

    def _step(self, step: int) -> None:
        settings = self.settings
        epsilon = settings.adam_epsilon
        if settings.adam_epsilon_on == "uncorrected":  # the same as adding it before bias correction
            epsilon /= (1 - _BETAS[1] ** (step + 1)) ** 0.5
        for group in self.inner.param_groups:
            group["lr"] = self.learning_rate(step) * group["lr_scale"]
            if settings.optimizer == "adam":
                group["eps"] = epsilon
        self.inner.step()


def _parameter_groups(model: nn.Module, settings: TrainingSettings, without: Collection[str]) -> list[dict[str, Any]]:
    """Parameter groups by weight decay and learning-rate scale."""
    groups: dict[tuple[float, float], list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and name not in without:
            groups.setdefault(decay_and_lr_scale(name, parameter, settings), []).append(parameter)
    return [
        {"params": parameters, "weight_decay": decay, "lr_scale": lr_scale}
        for (decay, lr_scale), parameters in groups.items()
    ]


def decay_and_lr_scale(name: str, parameter: Tensor, settings: TrainingSettings) -> tuple[float, float]:
    """The weight decay of a parameter, and the factor of its learning rate."""
    decay = 0.0 if settings.weight_decay_on == "matrices" and parameter.dim() <= 1 else settings.weight_decay
    return decay, settings.entity_lr_scale if name.rpartition(".")[2].startswith("entity") else 1.0


def _make(settings: TrainingSettings, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    if settings.optimizer == "adam":
        return torch.optim.AdamW(groups, lr=0.0, betas=_BETAS, fused=True)
    kind = torch.optim.Adagrad if settings.optimizer == "adagrad" else torch.optim.SGD
    return kind(groups, lr=0.0)
