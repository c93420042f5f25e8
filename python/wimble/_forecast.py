"""What a model says of a study: predictions, and which parameters matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wimble import _html

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from wimble._record import dataclass


@dataclass(frozen=True)
class Forecast:
    """What the method predicts for one configuration. What it does not model is None."""

    #: The expected value, and the standard deviation of the uncertainty about it, without noise.
    mean: float | None = None
    deviation: float | None = None
    #: The probability that there is a value: the trial neither fails nor is infeasible.
    success: float | None = None
    #: The probability of a value at least as good as `threshold`, and its upper confidence bound.
    threshold: float | None = None
    good: float | None = None
    good_upper_bound: float | None = None


@dataclass(frozen=True)
class Advice:
    """A piece of advice on a study."""

    #: What it is about: edge, no_effect, noise, failures or gain.
    kind: str
    #: What was found, and what to do.
    message: str
    #: The parameter that it is about, if it is about one.
    parameter: str | None = None
    #: For `gain`: what so many more `trials` are `expected` to gain, from `low` to `high`.
    gain: dict[str, float] | None = None
    #: For `noise`: how often to repeat each of the best configurations.
    repeats: int | None = None


@dataclass(frozen=True)
class Estimate:
    """A mean, and the interval that 90 % of refits to resampled trials fall into."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Share:
    """What one parameter does: the share of the variance that it causes alone, and also together with others."""

    alone: Estimate
    total: Estimate


class Importance(dict[str, Share]):
    """What each parameter does to a value, by name, largest total first."""

    #: R² on trials that the model was not fitted to; at 0 or below, the shares mean nothing.
    explained: float
    #: How many trials the model was fitted to.
    trials: int

    def _repr_html_(self) -> str:
        rows = [(name, s.total.mean, s.total.low, s.total.high, s.alone.mean) for name, s in self.items()]
        note = f"explains {self.explained:.0%} of {self.trials} trials that it had not seen"
        return _html.table("Importance", ["parameter", "total", "low", "high", "alone"], rows, note)
