"""A search algorithm for Ray Tune."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ray.tune.search import Searcher
from ray.tune.search.sample import Categorical, Domain, Float, Integer, LogUniform, Quantized, Uniform
from ray.tune.search.variant_generator import parse_spec_vars

from wimble import _space, _wimble
from wimble._errors import ExhaustedError
from wimble._goal import read_fidelity


class WimbleSearch(Searcher):  # type: ignore[misc,unused-ignore]
    """A search algorithm for Ray Tune that proposes by wimble.

    Args:
        space: Ray's search space, or a dictionary of wimble's dimensions. Default: the `param_space` of the Tuner.
        metric: What to search for; a list for several metrics. Default: that of the Tuner.
        mode: "min" or "max"; a list for several metrics.
        method: As listed by `wimble.methods()`. Default: auto.
        seed: The same seed and the same results give the same suggestions. Default: 0.
        points_to_evaluate: Configurations to try first.
        fidelity: What trials count as they go on, with its lowest and highest value, if a scheduler stops some of them:
            `{"training_iteration": (1, 81)}`. A trial that was stopped then counts by its rank among those that went on, and its
            last result is not compared with the results of whole trials. A function that returns earlier by itself is a whole
            trial.

    Running trials are pending points, which new ones keep clear of. Trials that fail, and metrics that are not finite, count
    as failed. Saving and restoring loses nothing: a driver that was killed goes on with `Tuner.restore`.
    """

    def __init__(
        self,
        space: Mapping[str, Any] | None = None,
        metric: str | list[str] | None = None,
        mode: str | list[str] | None = None,
        *,
        method: str = "auto",
        seed: int = 0,
        points_to_evaluate: list[dict[str, Any]] | None = None,
        fidelity: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        # Ray takes lists too, for several metrics.
        given: Any = metric, mode
        super().__init__(*given)
        self._method, self._seed = method, int(seed)
        self._given: dict[str, Any] | None = dict(space) if space else None
        self._first = [dict(point) for point in points_to_evaluate or ()]
        # The trials in the order in which they were suggested: Ray's name, the engine's configuration.
        self._trials: list[tuple[str, dict[str, Any]]] = []
        # What was told, in order: a number, an outcome or the values of a step, how far the trial was, and whether it ended.
        self._told: list[tuple[int, Any, float | None, bool]] = []
        self._ended: set[int] = set()
        # How far each running trial was when it last went on, and its values there.
        self._reached: dict[int, tuple[float | None, Any]] = {}
        self._fidelity = read_fidelity(fidelity)
        self._search: _Search | None = None
        self._set_up()

    def _set_up(self) -> None:
        """Builds the search from what is known of it, once that is enough."""
        if self._given is None or not self._metric or not self._mode:
            return
        metrics = [self._metric] if isinstance(self._metric, str) else list(self._metric)
        modes = [self._mode] if isinstance(self._mode, str) else list(self._mode)
        objectives = [(name, mode == "max") for name, mode in zip(metrics, modes) if mode != "obs"]
        self._search = _Search(self._given, objectives, self._method, self._seed, self._fidelity)
        for number, (_, params) in enumerate(self._trials):
            self._search.inner.issue(number, params)
        for told in self._told:
            self._search.tell(*told)

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any
    ) -> bool:
        """Takes the space, metric and mode of the Tuner, where none were given before."""
        if self._search is not None or (self._given is not None and config):
            return False
        self._given = self._given or dict(config)
        self._metric, self._mode = metric or self._metric, mode or self._mode
        self._set_up()
        return True

    def suggest(self, trial_id: str) -> Any:
        """A configuration for a new trial; FINISHED once a finite space has no other."""
        if self._search is None:
            missing = "a search space" if self._given is None else "metric and mode"
            raise RuntimeError(f"WimbleSearch needs {missing}; give it to WimbleSearch, or to the Tuner")
        number = len(self._trials)
        if self._first:
            params = self._search.encode(self._first.pop(0))
        else:
            try:
                (params,) = self._search.inner.propose(1)
            except ExhaustedError:
                return str(Searcher.FINISHED)
        self._search.inner.issue(number, params)
        self._trials.append((trial_id, params))
        return self._search.decode(params)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Takes a step of a trial that runs, where there is a fidelity."""
        number = self._running(trial_id)
        if number is None or self._search is None or self._fidelity is None:
            return
        values, at = self._search.read(result), _number(result.get(self._fidelity[0]))
        self._reached[number] = (at, values)
        if values is not None and at is not None and self._fidelity[1] <= at < self._fidelity[2]:
            self._tell(number, values, at, False)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Tells the last result of a trial."""
        number = self._running(trial_id)
        if number is None or self._search is None:
            return
        outcome: Any = ("the trial failed", "")
        at = None
        if not error and result is not None:
            outcome = self._search.read(result) or outcome
            if self._fidelity is not None:
                outcome, at = self._at_its_end(number, outcome, _number(result.get(self._fidelity[0])))
        elif not error and number in self._reached:
            # Stopped while it was paused: Tune gives no result, and the last one counts.
            at, values = self._reached.pop(number)
            outcome, at = self._at_its_end(number, values or outcome, at)
        self._tell(number, outcome, at, True)

    def _at_its_end(self, number: int, outcome: Any, at: float | None) -> tuple[Any, float | None]:
        """The outcome of a trial that ended at `at`, and how far that is; None for the whole."""
        assert self._fidelity is not None
        _, low, high = self._fidelity
        # Tune shows `on_trial_result` no result on which a trial is stopped. A trial that went on after its last result has ended
        # by itself.
        if at is None or at >= high or at == self._reached.get(number, (None,))[0]:
            return outcome, None
        if at < low:
            return ("the trial was stopped before its first step", ""), None
        return outcome, at

    def _running(self, trial_id: str) -> int | None:
        """The number of a trial that was suggested and has not ended."""
        number = next((n for n in reversed(range(len(self._trials))) if self._trials[n][0] == trial_id), None)
        return None if number in self._ended else number

    def _tell(self, number: int, outcome: Any, at: float | None, ended: bool) -> None:
        assert self._search is not None
        self._search.tell(number, outcome, at, ended)
        self._told.append((number, outcome, at, ended))
        if ended:
            self._ended.add(number)
            self._reached.pop(number, None)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Adds what was evaluated elsewhere."""
        if self._search is None:
            raise RuntimeError("WimbleSearch needs a search space, metric and mode before evaluated points")
        ((name, _),) = self._search.objectives
        trial_id = f"evaluated-{len(self._trials)}"
        params = self._search.encode(parameters)
        self._search.inner.issue(len(self._trials), params)
        self._trials.append((trial_id, params))
        self.on_trial_complete(trial_id, {name: value}, error or pruned)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"_reached": {}, **state})
        self._search = None
        self._set_up()

    def get_state(self) -> dict[str, Any]:
        """All that is needed to go on."""
        return self.__getstate__()

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from a state."""
        self.__setstate__(state)

    def save(self, checkpoint_path: str) -> None:
        """Writes all that is needed to go on."""
        with open(checkpoint_path, "wb") as file:
            pickle.dump(self.__getstate__(), file)

    def restore(self, checkpoint_path: str) -> None:
        """Goes on from what :meth:`save` wrote."""
        with open(checkpoint_path, "rb") as file:
            self.__setstate__(pickle.load(file))


class _Search:
    """The engine's search over Ray's space, and the way between their configurations."""

    def __init__(
        self,
        given: dict[str, Any],
        objectives: list[tuple[str, bool]],
        method: str,
        seed: int,
        fidelity: tuple[str, float, float] | None,
    ) -> None:
        self.objectives = objectives
        fixed, domains, grids = parse_spec_vars(given)
        if grids:
            names = ", ".join("/".join(map(str, path)) for path, _ in grids)
            raise ValueError(
                f"{names}: a grid is searched whole, which a search algorithm cannot do; "
                "use tune.choice, or leave the search algorithm out"
            )
        entries: dict[str, Any] = {}
        self.paths: dict[str, tuple[Any, ...]] = {}
        self.values: dict[str, Callable[[Any], Any]] = {}
        self.places: dict[str, Callable[[Any], Any]] = {}
        for path, value in fixed:
            # Wimble's own dimensions are fixed values to Ray.
            if isinstance(value, (_space.Real, _space.Integer, _space.Boolean, _space.Categorical, _space.Ordinal)):
                name = "/".join(map(str, path))
                self.paths[name], entries[name] = path, value
        # Ray takes lists apart; here they are passed on whole.
        constants = list(_constants(given))
        self.fixed = [(path, value) for path, value in constants if "/".join(map(str, path)) not in entries]
        for path, domain in domains:
            name = "/".join(map(str, path))
            if any(isinstance(_get(given, path[:depth]), (list, tuple)) for depth in range(1, len(path))):
                raise ValueError(f"{name} is inside a list, where it cannot be searched; use a dictionary")
            self.paths[name] = path
            entries[name], self.values[name], self.places[name] = _dimension(name, domain)
        self.translation = _space.Translation(entries)
        self.inner = _wimble.Search(self.translation.space, objectives, [], method, seed, 1, fidelity)

    def read(self, result: Mapping[str, Any]) -> dict[str, tuple[float, None]] | None:
        """The values of a result; None if one is missing or not finite."""
        values = {name: _number(result.get(name)) for name, _ in self.objectives}
        found = {name: (value, None) for name, value in values.items() if value is not None}
        return found if len(found) == len(values) else None

    def tell(self, number: int, outcome: Any, at: float | None, ended: bool) -> None:
        """What was told, or told before the state was saved."""
        if ended:
            self.inner.tell(number, outcome, at)
        elif at is not None:
            self.inner.report(number, at, outcome)

    def decode(self, params: dict[str, Any]) -> dict[str, Any]:
        """Ray's configuration."""
        config: dict[str, Any] = {}
        for path, value in self.fixed:
            _put(config, path, value)
        for name, value in self.translation.from_engine(dict(params)).items():
            _put(config, self.paths[name], self.values.get(name, _same)(value))
        return config

    def encode(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The engine's configuration."""
        params = {}
        for name, path in self.paths.items():
            value: Any = config
            try:
                # Points may be given nested, as Ray's, or flat.
                value = config[name] if name in config else _get(config, path)
            except (KeyError, TypeError):
                continue
            params[name] = self.places.get(name, _same)(value)
        encoded = self.translation.to_engine(params)
        self.translation.space.check(encoded)
        return encoded


def _constants(given: Mapping[str, Any], path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """What is not searched, with its place among nested dictionaries."""
    for key, value in given.items():
        if isinstance(value, dict) and value:
            yield from _constants(value, (*path, key))
        elif not isinstance(value, Domain):
            yield (*path, key), value


def _number(value: Any) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _same(value: Any) -> Any:
    return value


def _put(config: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        config = config.setdefault(key, {})
    config[path[-1]] = value


def _get(config: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        config = config[key]
    return config


def _dimension(name: str, domain: Domain) -> tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]:
    """A dimension of wimble for one of Ray's, the way to Ray's values, and the way back."""
    sampler = domain.get_sampler()
    step = None
    if isinstance(sampler, Quantized):
        step, sampler = sampler.q, sampler.sampler
    if isinstance(domain, Categorical):
        choices = list(domain.categories)
        entry = _space.Categorical(tuple(range(len(choices)))) if len(choices) > 1 else 0
        return entry, choices.__getitem__, choices.index
    if isinstance(domain, (Float, Integer)) and isinstance(sampler, (Uniform, LogUniform)):
        log = isinstance(sampler, LogUniform)
        whole = isinstance(domain, Integer)
        low: Any = domain.lower
        high: Any = domain.upper
        if step is None or step == 1 and whole:
            if not whole:
                return _space.Real(low, high, log), _same, _same
            # Ray leaves the upper end of integers out, except where they have steps.
            last = high if step is not None else high - 1
            return (_space.Integer(low, last, log) if last > low else low), _same, _same
        first, last = math.ceil(low / step), math.floor(high / step)
        kind = int if whole else float
        return (
            _space.Integer(first, last, log) if last > first else first,
            lambda count: kind(count * step),
            lambda value: round(value / step),
        )
    raise ValueError(
        f"{name} is {domain!r} sampled by {type(sampler).__name__}, which has no bounds to search within; "
        "use uniform, loguniform, randint or choice"
    )
