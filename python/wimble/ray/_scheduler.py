"""A scheduler for Ray Tune from wimble's stopping rules: in Tune, schedulers stop trials, and search algorithms do not."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
import pickle
from typing import Any

from ray.tune.schedulers import FIFOScheduler, TrialScheduler

from wimble._errors import InvalidError
from wimble._judge import Judge, check
from wimble.ray._search import _number


class WimbleScheduler(FIFOScheduler):  # type: ignore[misc,unused-ignore]
    """Stops trials of Ray Tune by one of wimble's rules.

    Give `WimbleSearch` the same range, `fidelity={"training_iteration": (1, 81)}`, so that it learns from stopped trials.

    Args:
        rule: "auto" stops what does worse than good trials did, and stops the best configuration by mistake with probability
            `wrong_stop` at most; "halving", "hyperband" and "median" are the others.
        max_t: How far a whole trial goes. A trial that comes there is ended.
        time_attr: What a trial counts as it goes on: a field of its results.
        grace_period: How far every trial goes before it may be stopped.
        metric, mode: As in Tune. Default: those of the Tuner.
        wrong_stop: For "auto"; a smaller one stops fewer trials, and later.
        seed: For "hyperband", which draws the bracket of each trial.
    """

    def __init__(
        self,
        rule: str = "auto",
        *,
        max_t: float,
        time_attr: str = "training_iteration",
        grace_period: float = 1,
        metric: str | None = None,
        mode: str | None = None,
        wrong_stop: float = 0.05,
        seed: int = 0,
    ) -> None:
        super().__init__()
        check(rule, wrong_stop)
        if not 0 < grace_period < max_t < math.inf:
            raise InvalidError(
                f"grace_period is {grace_period} and max_t is {max_t}, but must be positive, the first below the second",
                {"field": "max_t", "value": max_t},
            )
        if mode not in (None, "min", "max"):
            raise InvalidError(f"mode is {mode!r}, but must be 'min' or 'max'", {"field": "mode", "value": mode})
        self._rule, self._wrong_stop, self._seed = rule, float(wrong_stop), int(seed)
        self._time_attr, self._low, self._high = time_attr, float(grace_period), float(max_t)
        self._metric, self._mode = metric, mode
        # Ray's names of the trials, with numbers in the order in which they came.
        self._numbers: dict[str, int] = {}
        self._ended: set[int] = set()
        self._stopped: set[int] = set()
        # What happened, in order: a number, how far the trial was (None for a whole one), its value, and whether it ended.
        self._events: list[tuple[int, float | None, float | None, bool]] = []
        self._judge: Judge | None = None

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """Takes the metric and mode of the Tuner, where none were given before."""
        if self._metric and metric or self._mode and mode:
            return False
        self._metric, self._mode = metric or self._metric, mode or self._mode
        return True

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """Notes a trial."""
        if self._metric is None or self._mode is None:
            raise InvalidError(
                "WimbleScheduler needs a metric and a mode; give them to it, or to tune.TuneConfig", {"field": "metric"}
            )
        if self._number(trial) in self._ended:
            # Tune starts a trial again after an error: a run of its own.
            self._numbers[trial.trial_id] = self._next()
        super().on_trial_add(tune_controller, trial)

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """STOP for a trial that the rule gives up, or that came to its end."""
        at, value = self._read(result)
        if at is None or value is None:
            return str(TrialScheduler.CONTINUE)
        if at >= self._high:
            return str(TrialScheduler.STOP)
        number = self._number(trial)
        self._note((number, at, value, False))
        assert self._judge is not None
        if self._judge.should_stop(number):
            self._stopped.add(number)
            return str(TrialScheduler.STOP)
        return str(TrialScheduler.CONTINUE)

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        """Notes the end of a trial. One that was not stopped here came to its own end, wherever that is: it is a whole one."""
        at, value = self._read(result)
        self._end(trial, at if self._number(trial) in self._stopped else None, value)
        super().on_trial_complete(tune_controller, trial, result)

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """Notes a failure."""
        self._end(trial, None, None)
        super().on_trial_error(tune_controller, trial)

    def _end(self, trial: Any, at: float | None, value: float | None) -> None:
        number = self._number(trial)
        if number not in self._ended:
            self._ended.add(number)
            self._note((number, at, value, True))

    def _number(self, trial: Any) -> int:
        return self._numbers.setdefault(trial.trial_id, self._next())

    def _next(self) -> int:
        return max(self._numbers.values(), default=-1) + 1

    def _read(self, result: dict[str, Any]) -> tuple[float | None, float | None]:
        at, value = result.get(self._time_attr), result.get(self._metric or "")
        return _number(at), _number(value)

    def _note(self, event: tuple[int, float | None, float | None, bool]) -> None:
        if self._judge is None:
            self._judge = Judge(
                self._rule, self._wrong_stop, self._low, self._high, self._mode == "max", self._seed
            )
            for earlier in self._events:
                self._tell(self._judge, earlier)
        self._events.append(event)
        self._tell(self._judge, event)

    @staticmethod
    def _tell(judge: Judge, event: tuple[int, float | None, float | None, bool]) -> None:
        number, at, value, ended = event
        if ended:
            judge.end(number, value, at)
        elif at is not None and value is not None:
            judge.report(number, at, value)

    def __getstate__(self) -> dict[str, Any]:
        # Made again from what happened.
        return {**self.__dict__, "_judge": None}

    def save(self, checkpoint_path: str) -> None:
        """Writes all that is needed to go on."""
        with open(checkpoint_path, "wb") as file:
            pickle.dump(self.__getstate__(), file)

    def restore(self, checkpoint_path: str) -> None:
        """Goes on from what :meth:`save` wrote."""
        with open(checkpoint_path, "rb") as file:
            self.__dict__.update(pickle.load(file))

    def debug_string(self) -> str:
        """For Tune's status."""
        return f"WimbleScheduler: rule {self._rule}, {len(self._numbers)} trials"
