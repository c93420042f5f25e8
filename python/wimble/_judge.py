"""A stopping rule over trials that somebody else keeps: Optuna, or Ray Tune."""

from __future__ import annotations

import math

from wimble import _wimble
from wimble._errors import InvalidError

#: The rules that stop trials.
RULES = ("auto", "halving", "hyperband", "median")


def check(rule: str, wrong_stop: float) -> None:
    """Refuses a rule that there is none of, and a probability that is none."""
    if rule not in RULES:
        raise InvalidError(f"rule is {rule!r}, but must be one of {', '.join(RULES)}", {"field": "rule", "value": rule})
    if not 0 < wrong_stop < 1:
        raise InvalidError(
            f"wrong_stop is {wrong_stop}, but must be strictly between 0 and 1",
            {"field": "wrong_stop", "value": wrong_stop},
        )


class Judge:
    """Says whether a trial goes on, by its steps and those of all others.

    Trials are known by numbers. A step is how far a trial has come, from `low` to `high`, which is the whole of it; steps
    below `low` say nothing.
    """

    def __init__(self, rule: str, wrong_stop: float, low: float, high: float, maximise: bool, seed: int) -> None:
        check(rule, wrong_stop)
        self.rule, self.wrong_stop, self.low, self.high = rule, wrong_stop, low, high
        # The rules compare curves: where the trials are does not matter.
        space = _wimble.Space([{"name": "any", "type": "real", "low": 0.0, "high": 1.0}])
        self._search = _wimble.Search(space, [("value", maximise)], [], "random", seed, 1, ("step", low, high))
        self._ended: set[int] = set()

    def report(self, trial: int, step: float, value: float) -> None:
        """A step of a trial that runs. What comes after its end says nothing."""
        if step >= self.low and math.isfinite(value) and trial not in self._ended:
            self._begin(trial)
            self._search.report(trial, min(step, self.high), {"value": (value, None)})

    def end(self, trial: int, value: float | None, step: float | None = None) -> None:
        """The end of a trial: its value, after the last step if it came no further; None if it failed. A trial ends once."""
        if trial in self._ended:
            return
        self._begin(trial)
        self._ended.add(trial)
        if value is None or not math.isfinite(value) or step is not None and step < self.low:
            self._search.tell(trial, ("failed", ""))
        else:
            self._search.tell(
                trial, {"value": (value, None)}, None if step is None or step >= self.high else step
            )

    def should_stop(self, trial: int) -> bool:
        """Whether the rule gives a running trial up."""
        runs = self._search.knows(trial) and trial not in self._ended
        return runs and self._search.should_stop(trial, self.rule, self.wrong_stop)

    def _begin(self, trial: int) -> None:
        if not self._search.knows(trial):
            self._search.issue(trial, {"any": 0.5})
