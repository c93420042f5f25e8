"""A study, to be read: what it is, which trials it has, which are best, and what a model says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from wimble import _html, _wimble
from wimble._errors import whole
from wimble._forecast import Advice, Estimate, Forecast, Importance, Share
from wimble._goal import Goal
from wimble._space import Translation
from wimble._trial import Front, Trial, from_fields

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]


#: As many as a storage can count: the study runs for as long as somebody asks.
_UNLIMITED = 2**63 - 1


class Records:
    """A study, to be read. Nothing here changes it."""

    _inner: _wimble.Study
    _settings: dict[str, Any]
    _translation: Translation
    _goal: Goal
    _storage: str | None

    # What the study is.

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._settings["name"])

    @property
    def space(self) -> dict[str, Any]:
        """What may be chosen, as it was given."""
        return dict(self._translation.given)

    @property
    def known(self) -> list[str]:
        """The constraints on the space that are known beforehand."""
        return self._translation.space.known

    @property
    def goal(self) -> Goal:
        """Its objectives and constraints."""
        return self._goal

    @property
    def fidelity(self) -> dict[str, tuple[float, float]] | None:
        """What an evaluation counts as it goes on, with its lowest and highest value; None if trials have no steps."""
        given = self._settings["fidelity"]
        return None if given is None else {given[0]: (given[1], given[2])}

    @property
    def method(self) -> str:
        """Its method, with the settings that were given."""
        return str(self._settings["method"])

    @property
    def seed(self) -> int:
        """Its seed."""
        return int(self._settings["seed"])

    @property
    def storage(self) -> str | None:
        """Where it is kept; None for memory."""
        return self._storage

    @property
    def limit(self) -> int | None:
        """How many trials it may have; None for no limit."""
        budget = self._inner.budget()
        return None if budget >= _UNLIMITED else budget

    @property
    def paused(self) -> bool:
        """Whether no trial begins, anywhere; see :meth:`Study.pause`."""
        return self._inner.paused()

    @property
    def notes(self) -> dict[int, str]:
        """The notes by the numbers of their trials."""
        return dict(self._inner.notes())

    # What came of it.

    def trials(self, state: str | None = None, *, first: int = 0, limit: int | None = None) -> list[Trial]:
        """Trials in the order of their numbers; of one state (also "finished") if it is given."""
        return self._all(self._inner.trials(state, first, limit))

    def trial(self, number: int) -> Trial:
        """The trial of a number."""
        return self._one(self._inner.trial(whole("number", number, 0)))

    @property
    def best(self) -> Trial | None:
        """The trial with the best value; None if there is none yet."""
        best = self._inner.best(1)
        return self._one(best[0]) if best else None

    def best_trials(self, count: int) -> list[Trial]:
        """The trials with the best values, best first."""
        return self._all(self._inner.best(count))

    @property
    def recommended(self) -> Trial | None:
        """The trial to keep. Where values are noisy, the best of many may be luck; a method that models the noise knows."""
        kept = self._inner.recommended()
        return None if kept is None else self._one(kept)

    @property
    def front(self) -> Front:
        """The trials that keep all constraints and that no other such trial dominates, with their hypervolume."""
        trials, reference, hypervolume, _ = self._inner.front()
        return Front(self._all(trials), dict(zip(self._goal.objectives, reference)), hypervolume)

    @property
    def counts(self) -> dict[str, int]:
        """How many trials there are, by state."""
        return self._inner.counts()

    def __len__(self) -> int:
        return sum(self.counts.values())

    def predict(self, points: Iterable[Mapping[str, Any]]) -> list[Forecast] | None:
        """What the method predicts for each configuration; None if it has no model, or nothing to learn from yet."""
        if isinstance(points, Mapping):
            raise TypeError("predict takes a list of configurations: predict([{…}]) for one")
        forecasts = self._inner.predict([self._translation.to_engine(point) for point in points])
        return None if forecasts is None else [Forecast(**forecast) for forecast in forecasts]

    def importance(self, quantity: str | None = None) -> Importance:
        """Which parameters matter for an objective or a constrained value; default: the first objective.

        Shares of the variance (Sobol indices) of a model of the trials, each with an interval.

        >>> import wimble
        >>> space = {"matters": wimble.real(-1, 1), "idle": wimble.real(-1, 1)}
        >>> study = wimble.Study("importance", space, method="sobol", seed=0)
        >>> _ = study.optimize(lambda trial: trial["matters"] ** 2, trials=60)
        >>> list(study.importance())
        ['matters', 'idle']
        """
        shares, explained, trials = self._inner.importance(quantity or next(iter(self._goal.objectives)))
        shares.sort(key=lambda share: -share[2][0])
        found = Importance({name: Share(Estimate(*alone), Estimate(*total)) for name, alone, total in shares})
        found.explained, found.trials = explained, trials
        return found

    def advise(self) -> list[Advice]:
        """What a colleague would say: what to widen, drop or repeat, and whether to stop. Most urgent first.

        >>> import wimble
        >>> study = wimble.Study("advise", {"x": wimble.real(0, 1)}, method="sobol", seed=0)
        >>> _ = study.optimize(lambda trial: trial["x"], trials=60)
        >>> [(advice.kind, advice.parameter) for advice in study.advise()][0]
        ('edge', 'x')
        """
        import json

        return [Advice(**advice) for advice in json.loads(self._inner.advise())]

    def to_dataframe(self, state: str | None = None) -> pandas.DataFrame:
        """The trials as a DataFrame: number, state, a column for each value, `params_…` for each dimension, and more."""
        import pandas

        names = [*self._goal.objectives, *(n for n in self._goal.constraints if n not in self._goal.objectives)]
        columns = ["number", "state", *names, *(f"params_{name}" for name in self._translation.given)]
        columns += ["reason", "worker", "started", "finished", "attributes"]
        rows = [
            {
                "number": t.number,
                "state": t.state,
                **t.values,
                **{f"params_{name}": value for name, value in t.params.items()},
                "reason": t.reason,
                "worker": t.worker,
                "started": t.started,
                "finished": t.finished,
                "attributes": t.attributes,
            }
            for t in self.trials(state)
        ]
        return pandas.DataFrame(rows, columns=columns)

    # How it looks.

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {state}" for state, count in self.counts.items() if count) or "no trials"
        where = f", storage={self._storage!r}" if self._storage and "@" not in self._storage else ""
        best = self.best
        told = f", best {best.value!r}" if best is not None else ""
        return f"Study({self.name!r}, {self._goal}, method={self.method!r}, seed={self.seed}{where}: {counts}{told})"

    def _repr_html_(self) -> str:
        several = len(self._goal.objectives) > 1
        shown = self.front if several else self.best_trials(10)
        about = _html.pairs(
            f"Study {self.name}",
            [("goal", self._goal), ("method", self.method), ("seed", self.seed), *self.counts.items()],
        )
        return about + _html.trials("Front" if several else "Best trials", shown)

    def _one(self, fields: dict[str, Any]) -> Trial:
        return from_fields(fields, self._translation.from_engine(fields["params"]))

    def _all(self, listed: list[dict[str, Any]]) -> list[Trial]:
        return [self._one(fields) for fields in listed]
