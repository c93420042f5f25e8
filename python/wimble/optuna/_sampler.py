"""A sampler for Optuna.

How Optuna's trials become evidence:

- Parameters that every finished trial has (Optuna's intersection space) are sampled together. Others, and those of the first
  trials, are sampled one at a time by the same method, each from the trials that have it.
- Running trials are pending points, which new ones keep clear of: no values are invented for them. Workers in other
  processes see each other's trials through Optuna's storage.
- Failed trials, and values that are not finite, count as failed: the method learns where that happens.
- A pruned trial counts by its rank among the trials that went on, at the last step that it reported: its values are never
  compared with those of whole trials. Where there are several objectives or constraints, or it reported nothing, it counts as
  failed.
- Constraints, by `constraints_func` or Optuna 5's `trial.set_constraint`, and several objectives are passed to the method. A
  method that does not serve them refuses with the reason.

A finished trial is read once, so that asking does not slow down with the length of a study. In a finite space whose
configurations have all been tried, values are random.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.search_space import IntersectionSearchSpace
from optuna.study import StudyDirection
from optuna.trial import TrialState

from wimble import _wimble
from wimble._errors import ExhaustedError

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial

#: How many searches are kept: one for each set of parameters that is sampled together.
_KEPT = 64


class WimbleSampler(BaseSampler):
    """A sampler that proposes by wimble.

    Args:
        method: As listed by `wimble.methods()`, with settings if wanted. Default: auto.
        seed: The same seed and the same results give the same suggestions, with one job. Default: a random one.
        search_space: The parameters to sample together. Default: those that all finished trials have.
        independent_sampler: For parameters outside of that space. Default: this method, one at a time.
        constraints_func: As in Optuna's samplers: values above 0 violate a constraint.
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        seed: int | None = None,
        search_space: dict[str, BaseDistribution] | None = None,
        independent_sampler: BaseSampler | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
    ) -> None:
        self._method = method
        self._random = RandomSampler(seed=seed)
        self._seed = self._new_seed()
        self._search_space = search_space
        self._independent_sampler = independent_sampler
        self._constraints_func = constraints_func
        self._forget()

    def _forget(self) -> None:
        self._intersection = IntersectionSearchSpace()
        self._study: Any = None
        self._searches: OrderedDict[Any, _Search] = OrderedDict()
        self._constraints: list[str] = []
        self._steps = 0
        self._lock = threading.Lock()

    def _new_seed(self) -> int:
        return int(self._random._rng.rng.randint(2**31))

    def __getstate__(self) -> dict[str, Any]:
        # What was learnt is read again from the study.
        learnt = ("_intersection", "_study", "_searches", "_constraints", "_steps", "_lock")
        return {name: value for name, value in self.__dict__.items() if name not in learnt}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def reseed_rng(self) -> None:
        """Takes a new random seed, for a worker that must not repeat another one."""
        with self._lock:
            self._random.reseed_rng()
            if self._independent_sampler is not None:
                self._independent_sampler.reseed_rng()
            self._seed = self._new_seed()
            self._searches.clear()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that all finished trials have."""
        if self._search_space is not None:
            return {name: kind for name, kind in self._search_space.items() if not kind.single()}
        with self._lock:
            self._look_at(study)
            space = self._intersection.calculate(study)
        return {name: kind for name, kind in space.items() if not kind.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values for all of these parameters together."""
        if not search_space:
            # There is nothing to sample yet, but a goal that the method does not serve is refused at once.
            _Search({"any": FloatDistribution(0, 1)}, study.directions, [], self._method, self._seed)
        return self._sample(study, trial, search_space) if search_space else {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A value for a parameter that is not in the relative space."""
        if self._independent_sampler is not None:
            return self._independent_sampler.sample_independent(study, trial, param_name, param_distribution)
        return self._sample(study, trial, {param_name: param_distribution})[param_name]

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Passed on."""
        if self._independent_sampler is not None:
            self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Evaluates the constraints."""
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        if self._independent_sampler is not None:
            self._independent_sampler.after_trial(study, trial, state, values)

    def _look_at(self, study: Study) -> None:
        """Forgets another study."""
        seen = (study._storage, study._study_id)
        if self._study != seen:
            self._study = seen
            self._intersection = IntersectionSearchSpace()
            self._searches.clear()
            self._constraints = []
            self._steps = 0

    def _sample(self, study: Study, trial: FrozenTrial, space: dict[str, BaseDistribution]) -> dict[str, Any]:
        with self._lock:
            self._look_at(study)
            trials = study._get_trials(deepcopy=False, use_cache=True)
            key = tuple(sorted(space.items()))
            while True:
                search = self._searches.pop(key, None)
                if search is None:
                    search = _Search(space, study.directions, self._constraints, self._method, self._seed, self._steps)
                self._searches[key] = search
                try:
                    search.follow(trials, trial.number)
                    break
                except _NewConstraints as found:
                    self._constraints = found.names
                    self._searches.clear()
                except _Pruned:
                    self._steps = _steps(trials)
                    self._searches.clear()
                except _Moved:
                    del self._searches[key]
            while len(self._searches) > _KEPT:
                self._searches.popitem(last=False)
            try:
                return search.propose(trial.number)
            except ExhaustedError:
                random = self._random.sample_independent
                return {name: random(study, trial, name, kind) for name, kind in space.items()}


class _NewConstraints(Exception):
    """Trials have constraints that the goal does not know."""

    def __init__(self, names: list[str]) -> None:
        self.names = names


class _Pruned(Exception):
    """Trials were pruned, or took more steps than the search knows of."""


class _Moved(Exception):
    """A trial was evaluated elsewhere than where it was proposed."""


class _Search:
    """A search over some parameters, kept in step with the trials of a study."""

    def __init__(
        self,
        space: dict[str, BaseDistribution],
        directions: Iterable[StudyDirection],
        constraints: list[str],
        method: str,
        seed: int,
        steps: int = 0,
    ) -> None:
        self.space = dict(space)
        self.constraints = list(constraints)
        #: How many steps a whole trial takes; 0 as long as no trial was pruned.
        self.steps = steps
        self.objectives = [(str(n), way == StudyDirection.MAXIMIZE) for n, way in enumerate(directions)]
        limits = [(f"constraint {name}", True, 0.0) for name in constraints]
        dimensions = [_dimension(name, kind) for name, kind in self.space.items()]
        fidelity = ("steps", 1.0, float(steps)) if steps else None
        self.inner = _wimble.Search(_wimble.Space(dimensions), self.objectives, limits, method, seed, 1, fidelity)
        # All trials before `read` were looked at; those in `open` had not finished then.
        self.read = 0
        self.open: set[int] = set()

    def follow(self, trials: Sequence[FrozenTrial], current: int) -> None:
        """Reads what happened since it last looked."""
        # Another thread may have seen trials that this one's list, made when its trial began, does not have.
        known = [number for number in sorted(self.open) if number < len(trials)]
        for number in [*known, *range(self.read, len(trials))]:
            trial = trials[number]
            if trial.state.is_finished():
                self._finish(trial)
                self.open.discard(number)
            else:
                self.open.add(number)
                if number != current and not self.inner.knows(number):
                    params = self._encode(trial)
                    if params is not None:
                        self.inner.issue(number, params)
        self.read = max(self.read, len(trials))

    def _finish(self, trial: FrozenTrial) -> None:
        unknown = set(_constraints(trial)) - set(self.constraints)
        if unknown:
            raise _NewConstraints([*self.constraints, *sorted(unknown)])
        has_part = len(self.objectives) == 1 and not self.constraints
        if has_part and (self.steps or _is_part(trial)) and _spent(trial) > self.steps:
            raise _Pruned
        params = self._encode(trial)
        known = self.inner.knows(trial.number)
        if params is None:
            if known:
                # It never came to these parameters: nothing is known of the point.
                raise _Moved
            return
        if not known:
            self.inner.issue(trial.number, params)
        elif not self.inner.holds(trial.number, params):
            raise _Moved
        if not has_part or not self.steps:
            self.inner.tell(trial.number, self._outcome(trial))
            return
        # Curves, by which what was pruned is compared with what went on.
        ((name, _),) = self.objectives
        for step, value in sorted(trial.intermediate_values.items()):
            if abs(value) < float("inf") and step + 1 < self.steps:
                self.inner.report(trial.number, step + 1.0, {name: (value, None)})
        if _is_part(trial):
            last = trial.last_step
            assert last is not None
            self.inner.tell(trial.number, {name: (trial.intermediate_values[last], None)}, last + 1.0)
        else:
            self.inner.tell(trial.number, self._outcome(trial))

    def _outcome(self, trial: FrozenTrial) -> Any:
        told = _constraints(trial)
        if trial.state != TrialState.COMPLETE or trial.values is None:
            return (trial.state.name.lower(), "")
        values = [*trial.values, *(told.get(name, float("nan")) for name in self.constraints)]
        if not all(abs(value) < float("inf") for value in values):
            return ("not finite", "")
        names = [*(name for name, _ in self.objectives), *(f"constraint {name}" for name in self.constraints)]
        return {name: (float(value), None) for name, value in zip(names, values)}

    def propose(self, number: int) -> dict[str, Any]:
        """Values for a new trial, which is pending from now on."""
        (params,) = self.inner.propose(1)
        if not self.inner.knows(number):
            self.inner.issue(number, params)
        return {name: _decode(kind, params[name]) for name, kind in self.space.items()}

    def _encode(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """The trial's point; None if it has none in this space."""
        params = {}
        for name, kind in self.space.items():
            if name not in trial.params:
                return None
            value = _encode(kind, trial.params[name])
            if value is None:
                return None
            params[name] = value
        return params


def _constraints(trial: FrozenTrial) -> dict[str, float]:
    if hasattr(trial, "constraints"):
        return dict(trial.constraints)
    told = trial.system_attrs.get("constraints") or ()
    return {str(place): value for place, value in enumerate(told)}


def _is_part(trial: FrozenTrial) -> bool:
    """Whether a trial was pruned after a step with a value."""
    last = trial.last_step
    return trial.state == TrialState.PRUNED and last is not None and abs(trial.intermediate_values[last]) < float("inf")


def _spent(trial: FrozenTrial) -> int:
    """How many steps a whole trial takes at least, by this one."""
    if trial.last_step is None or trial.state not in (TrialState.COMPLETE, TrialState.PRUNED):
        return 0
    return trial.last_step + (2 if _is_part(trial) else 1)


def _steps(trials: Iterable[FrozenTrial]) -> int:
    """How many steps a whole trial takes, by all of them."""
    return max((2, *map(_spent, trials)))


def _dimension(name: str, kind: BaseDistribution) -> dict[str, Any]:
    """A parameter for the engine: steps and choices are counted from 0."""
    if isinstance(kind, CategoricalDistribution):
        return {"name": name, "type": "categorical", "choices": list(range(len(kind.choices)))}
    if isinstance(kind, FloatDistribution):
        if kind.step is not None:
            return {"name": name, "type": "integer", "low": 0, "high": round((kind.high - kind.low) / kind.step)}
        return {"name": name, "type": "real", "low": kind.low, "high": kind.high, "log": kind.log}
    if isinstance(kind, IntDistribution):
        step = {} if kind.log else {"step": kind.step}
        return {"name": name, "type": "integer", "low": kind.low, "high": kind.high, "log": kind.log, **step}
    raise ValueError(f"parameter {name}: wimble does not know distributions of the class {type(kind).__name__}")


def _encode(kind: BaseDistribution, value: Any) -> Any:
    """A value for the engine; None if the distribution does not have it."""
    try:
        place = kind.to_internal_repr(value)
    except ValueError:
        return None
    if not kind._contains(place):
        return None
    if isinstance(kind, FloatDistribution) and kind.step is not None:
        return round((value - kind.low) / kind.step)
    if isinstance(kind, FloatDistribution):
        return float(value)
    return int(place)


def _decode(kind: BaseDistribution, value: Any) -> Any:
    """A value of the engine for Optuna."""
    if isinstance(kind, CategoricalDistribution):
        return kind.choices[value]
    if isinstance(kind, FloatDistribution) and kind.step is not None:
        return min(kind.low + value * kind.step, kind.high)
    return value
