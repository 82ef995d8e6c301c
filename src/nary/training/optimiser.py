"""Adam with decoupled decay and the schedule of the published runs."""

import torch
from torch import nn

from nary.training.settings import TrainingSettings

_BETAS = (0.9, 0.999)


def rate_at(step: int, steps: int, settings: TrainingSettings) -> float:
    """The learning rate of a step, counted from 0, of so many steps.

    It climbs from 0 to its peak and then falls in a straight line to (almost) 0. As published that line starts at step
    0, so the rate jumps down where the warm-up ends; without the jump it starts there.
    """
    warmup = settings.warmup * steps
    if step < warmup:
        return settings.rate * step / warmup
    if settings.warmup_jump:
        return settings.rate * (1 - step / steps)
    return settings.rate * (steps - step) / (steps - warmup)


class Optimiser:
    """Clips the gradient, then takes a step of AdamW with the rate of that step."""

    def __init__(self, model: nn.Module, settings: TrainingSettings, steps: int) -> None:
        self.settings = settings
        self.steps = steps
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        decayed = [p for p in self.parameters if settings.decay_on == "all" or p.dim() > 1]
        spared = [p for p in self.parameters if settings.decay_on != "all" and p.dim() <= 1]
        groups = [{"params": decayed, "weight_decay": settings.decay}, {"params": spared, "weight_decay": 0.0}]
        self.adam = torch.optim.AdamW([group for group in groups if group["params"]], lr=0.0, betas=_BETAS, fused=True)

    def step(self, step: int) -> None:
        """Update the parameters from their gradients and forget these."""
        settings = self.settings
        if settings.clip:
            nn.utils.clip_grad_norm_(self.parameters, settings.clip)
        epsilon = settings.adam_epsilon
        if settings.adam_epsilon_on == "uncorrected":  # the same as adding it before the correction of the moment
            epsilon /= (1 - _BETAS[1] ** (step + 1)) ** 0.5
        for group in self.adam.param_groups:
            group["lr"] = rate_at(step, self.steps, settings)
            group["eps"] = epsilon
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
