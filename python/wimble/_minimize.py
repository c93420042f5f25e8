"""`wimble.minimize`: a function, a space, a result."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wimble import _evaluation, _html
from wimble._errors import InvalidError
from wimble._goal import Constraints, Objectives
from wimble._space import SpaceLike, Translation, real
from wimble._study import Study
from wimble._trial import Front, Trial

if TYPE_CHECKING:
    from concurrent.futures import Executor


class Result:
    """What came of :func:`minimize`. The names of SciPy's results work too, as attributes and as keys."""

    #: The best configuration and its value; None if no trial has a value.
    params: dict[str, Any] | None
    value: float | None

    def __init__(self, study: Study, array: Callable[[Trial], Any] | None = None) -> None:
        #: The study, with all trials.
        self.study = study
        self._array = array
        best = study.best
        #: The best trial.
        self.best = best
        self.params = None if best is None else best.params
        self.value = None if best is None else best.value
        counts = study.counts
        #: How many trials were finished.
        self.nfev = _evaluation.finished(study)
        #: Whether there is a value.
        self.success = best is not None
        #: How it ended, in words.
        self.message = f"{self.nfev} trials finished, {counts['complete']} with a value"

    @property
    def front(self) -> Front:
        """The trials that keep all constraints and that no other such trial dominates."""
        return self.study.front

    @property
    def x(self) -> Any:
        """The best point: an array where `bounds` were given, otherwise the configuration."""
        if self.best is None or self._array is None:
            return self.params
        return self._array(self.best)

    @property
    def fun(self) -> float | None:
        """The best value."""
        return self.value

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError:
            raise KeyError(name) from None

    def __repr__(self) -> str:
        return f"Result(value={self.value!r}, params={self.params!r}, message={self.message!r})"

    def _repr_html_(self) -> str:
        rows = [("value", self.value), *(self.params or {}).items(), ("", self.message)]
        return _html.pairs("Result", rows)


class _Array:
    """Calls a function of one array."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)

    def point(self, trial: Trial) -> Any:
        """The trial's point."""
        values = [trial.params[name] for name in self.names]
        try:
            import numpy
        except ImportError:
            return values
        return numpy.array(values)

    def __call__(self, function: Callable[..., Any], trial: Trial) -> Any:
        return function(self.point(trial))


def minimize(
    function: Callable[..., Any],
    space: SpaceLike | None = None,
    *,
    bounds: Any = None,
    known: Iterable[str] = (),
    trials: int = 100,
    workers: int | None = None,
    executor: str | Executor | None = None,
    method: str | None = None,
    seed: int | None = None,
    objectives: Objectives = None,
    constraints: Constraints = None,
    direction: str | None = None,
    initial: Iterable[Mapping[str, Any]] = (),
    storage: str | os.PathLike[str] | None = None,
    name: str = "minimize",
    timeout: float | None = None,
    catch: type[Exception] | tuple[type[Exception], ...] = (),
    callbacks: Iterable[Callable[[Study, Trial], Any]] = (),
    progress: bool = False,
) -> Result:
    """Minimises `function(name=value, …)` over a space, with so many trials.

    With `bounds` instead of a space, it is called as SciPy does: `function(x)` with one array.

    >>> import wimble
    >>> result = wimble.minimize(lambda x, y: (x - 1) ** 2 + y, {"x": wimble.real(-5, 5), "y": [0, 1, 2]}, trials=30, seed=0)
    >>> result.params["y"], abs(result.params["x"] - 1) < 0.1
    (0, True)
    >>> result = wimble.minimize(lambda x: x[0] ** 2 + x[1] ** 2, bounds=[(-1, 2), (-2, 1)], trials=30, seed=0)
    >>> result.nfev, bool(result.fun < 0.01)
    (30, True)

    Args:
        function: Returns a number, a dictionary of objectives and constraints, `wimble.FAILED` or `wimble.INFEASIBLE`.
        space: A dictionary from names to dimensions. Names of dimensions that do not exist are not passed.
        bounds: Pairs (low, high), or a `scipy.optimize.Bounds`.
        known: Constraints on the space that are known beforehand, such as "layers * width <= 4096".
        trials: How many trials in all. A stored study that has some of them goes on with the rest.
        workers: How many at a time. Default: 1, or as many as the executor has.
        executor: "threads", "processes", or anything with the interface of concurrent.futures. Default: threads.
        initial: Configurations to try first.
        storage, name: Where to keep the study, so that it goes on if it is run again. Default: memory.

    `method`, `seed`, `objectives`, `constraints` and `direction` are those of :class:`wimble.Study`; `timeout`, `catch`,
    `callbacks` and `progress` those of :meth:`wimble.Study.optimize`.
    """
    call: _evaluation.Call = _evaluation.with_params
    array = None
    if (space is None) == (bounds is None):
        raise InvalidError("give either a space or bounds", {"field": "space"})
    if bounds is not None:
        pairs = _pairs(bounds)
        names = [f"x{place}" for place in range(len(pairs))]
        space = {name: real(low, high) for name, (low, high) in zip(names, pairs)}
        array = _Array(names)
        call = array
    how = _evaluation.How(workers, executor, timeout, catch, _evaluation.listed(callbacks), progress)
    _evaluation.check(function, trials, how)
    # A finite space ends the search, however many trials were wanted.
    all = Translation(space, known).space.cardinality if space is not None else None
    study = Study(
        name,
        space,
        known=known,
        storage=storage,
        objectives=objectives,
        constraints=constraints,
        direction=direction,
        method=method,
        seed=seed,
        trials=trials if all is None else min(trials, all),
    )
    for place, params in enumerate(initial):
        study.add(params, key=f"initial-{place}")
    _evaluation.run(study, call, function, None, how)
    return Result(study, array.point if array else None)


def maximize(function: Callable[..., Any], space: SpaceLike | None = None, **arguments: Any) -> Result:
    """As :func:`minimize`, for the largest value.

    >>> import wimble
    >>> wimble.maximize(lambda n: -abs(n - 7), {"n": wimble.integer(0, 20)}, trials=15, seed=0).params
    {'n': 7}
    """
    return minimize(function, space, direction="maximize", **arguments)


def _pairs(bounds: Any) -> list[tuple[float, float]]:
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lows, highs = list(_flat(bounds.lb)), list(_flat(bounds.ub))
        count = max(len(lows), len(highs))
        pairs = list(zip(lows * count if len(lows) == 1 else lows, highs * count if len(highs) == 1 else highs))
    else:
        try:
            pairs = [(float(low), float(high)) for low, high in bounds]
        except (TypeError, ValueError):
            raise InvalidError(
                f"bounds are {bounds!r}, but must be pairs of finite numbers, such as [(-5, 5), (0, 15)]",
                {"field": "bounds", "value": repr(bounds)},
            ) from None
    for place, (low, high) in enumerate(pairs):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise InvalidError(
                f"the bounds of x[{place}] are {low} and {high}, but must be finite: there is no search without a box",
                {"field": f"bounds[{place}]", "value": repr((low, high))},
            )
    return pairs


def _flat(values: Any) -> Iterable[float]:
    return [float(value) for value in values] if hasattr(values, "__len__") and len(values) else [float(values)]
