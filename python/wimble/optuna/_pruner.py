"""A pruner for Optuna from wimble's stopping rules.

Steps count from 0, as Optuna's do in `for step in range(100): trial.report(value, step)`: after step 0 a trial has spent one
unit of its resource. Reported values that are NaN or infinite mean that a trial has diverged, and prune it.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

from optuna.pruners import BasePruner
from optuna.study import StudyDirection
from optuna.trial import TrialState

from wimble._errors import InvalidError
from wimble._judge import Judge, check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optuna.study import Study
    from optuna.trial import FrozenTrial


class WimblePruner(BasePruner):
    """Prunes trials by one of wimble's stopping rules.

    Args:
        rule: "auto" stops what does worse than good trials did, and stops the best configuration by mistake with probability
            `wrong_stop` at most; "halving" is asynchronous successive halving, "hyperband" the same in brackets, "median" the
            median rule.
        wrong_stop: For "auto": a smaller one prunes fewer trials, and later. 1 / wrong_stop trials are carried out in
            full before the first is pruned.
        min_resource: How many steps every trial takes before it may be pruned.
        max_resource: How many steps a whole trial takes. Default: as many as the longest complete trial reported, so that
            nothing is pruned before one is complete.
        seed: For "hyperband", which draws the bracket of each trial.
    """

    def __init__(
        self,
        rule: str = "auto",
        *,
        wrong_stop: float = 0.05,
        min_resource: int = 1,
        max_resource: int | str = "auto",
        seed: int = 0,
    ) -> None:
        check(rule, wrong_stop)
        if min_resource < 1:
            raise InvalidError(
                f"min_resource is {min_resource}, but must be positive", {"field": "min_resource", "value": min_resource}
            )
        if max_resource != "auto" and not (isinstance(max_resource, int) and max_resource > min_resource):
            raise InvalidError(
                f"max_resource is {max_resource!r}, but must be 'auto' or an integer above min_resource, {min_resource}",
                {"field": "max_resource", "value": max_resource},
            )
        self._rule, self._wrong_stop, self._seed = rule, float(wrong_stop), int(seed)
        self._low, self._high = int(min_resource), max_resource
        self._forget()

    def _forget(self) -> None:
        self._study: Any = None
        self._curves: _Curves | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        # What was learnt is read again from the study.
        learnt = ("_study", "_curves", "_lock")
        return {name: value for name, value in self.__dict__.items() if name not in learnt}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether the rule gives the trial up after its last step."""
        step = trial.last_step
        if step is None:
            return False
        if not math.isfinite(trial.intermediate_values[step]):
            return True
        with self._lock:
            # Inside the lock: a thread with an older list must not come after one with a newer.
            trials = study.get_trials(deepcopy=False)
            seen = (study._storage, study._study_id)
            if self._study != seen:
                self._study, self._curves = seen, None
            high = self._high if isinstance(self._high, int) else _longest(trials)
            if high <= self._low:
                return False
            if self._curves is None or self._curves.judge.high != high:
                maximise = study.direction == StudyDirection.MAXIMIZE
                judge = Judge(self._rule, self._wrong_stop, self._low, high, maximise, self._seed)
                self._curves = _Curves(judge)
            self._curves.follow(trials)
            return self._curves.judge.should_stop(trial.number)


def _longest(trials: Sequence[FrozenTrial]) -> int:
    """How many steps the longest complete trial took; 0 if there is none."""
    complete = (trial for trial in trials if trial.state == TrialState.COMPLETE)
    return max((trial.last_step + 1 for trial in complete if trial.last_step is not None), default=0)


class _Curves:
    """A judge, kept in step with the trials of a study."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        # All trials before `read` were looked at; those in `open` had not finished then, and were read up to a step.
        self.read = 0
        self.open: dict[int, int] = {}

    def follow(self, trials: Sequence[FrozenTrial]) -> None:
        """Reads what happened since it last looked: first what has ended, then what runs."""
        fresh = [*sorted(self.open), *range(self.read, len(trials))]
        self.read = len(trials)
        ended = [trials[number] for number in fresh if trials[number].state.is_finished()]
        for trial in sorted(ended, key=_ended):
            self.steps(trial)
            self.open.pop(trial.number, None)
            if trial.state == TrialState.COMPLETE:
                self.judge.end(trial.number, trial.values[0] if trial.values else None)
            elif trial.state == TrialState.PRUNED and trial.last_step is not None:
                last = trial.last_step
                self.judge.end(trial.number, trial.intermediate_values[last], last + 1)
            else:
                self.judge.end(trial.number, None)
        for number in fresh:
            if trials[number].state == TrialState.RUNNING:
                self.steps(trials[number])
            elif not trials[number].state.is_finished():
                self.open.setdefault(number, -1)

    def steps(self, trial: FrozenTrial) -> None:
        """Reads the steps of a trial from where it was read last."""
        read = self.open.get(trial.number, -1)
        for step, value in sorted(trial.intermediate_values.items()):
            # The end of a complete trial stands for its last step.
            if step > read and not (trial.state == TrialState.COMPLETE and step + 1 >= self.judge.high):
                self.judge.report(trial.number, step + 1, value)
                read = step
        self.open[trial.number] = read


def _ended(trial: FrozenTrial) -> Any:
    return trial.datetime_complete, trial.number
