"""A trial: what to try, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from wimble import _html
from wimble._errors import InvalidError

if TYPE_CHECKING:
    from dataclasses import dataclass, field
    from datetime import datetime
else:
    from wimble._record import dataclass, field


@dataclass(frozen=True, repr=False)
class Trial:
    """One trial of a study. Trials are plain values: they can be compared, pickled and sent to another process."""

    #: Its number, from 0.
    number: int
    #: What to try, by name; dimensions that do not exist here have no value.
    params: dict[str, Any]
    #: `queued`, `running`, `complete`, `stopped` (it ended early), `failed` or `infeasible`.
    state: str = "running"
    #: The values of objectives and constraints, by name, once it is complete.
    values: dict[str, float] = field(default_factory=dict)
    #: The standard deviation of the noise in a value, by name, where that was told.
    deviations: dict[str, float] = field(default_factory=dict)
    #: How far its evaluation went, if it was stopped.
    fidelity: float | None = None
    #: Why it failed, in one line.
    reason: str = ""
    #: The end of what it printed: of a function that raised, the traceback.
    output: str = ""
    #: What was told beside the outcome.
    attributes: dict[str, Any] = field(default_factory=dict)
    #: `proposed` by the method, `enqueued` by a user, or `imported` with its outcome.
    origin: str = "proposed"
    #: 1, and one more for each worker that was lost with it.
    attempt: int = 1
    #: Who runs it, or ran it last.
    worker: str | None = None
    #: When its latest evaluation began and when it finished.
    started: datetime | None = None
    finished: datetime | None = None
    #: The right to tell it; only trials that `ask` gave have one.
    token: str | None = None

    @property
    def value(self) -> float | None:
        """The value of the first objective; None if there is none."""
        return next(iter(self.values.values()), None)

    def report(self, step: float, value: Any) -> None:
        """Stores a step: what is measured when the evaluation has come this far, as :meth:`wimble.Study.tell` takes it.

        For trials that `ask` or `optimize` gave, in a study with a fidelity. Reporting the same again changes nothing.
        """
        self._of_study().report(self, step, value)

    @property
    def should_stop(self) -> bool:
        """Whether the study's stopping rule gives the trial up: end it with `wimble.STOPPED`."""
        return bool(self._of_study().should_stop(self))

    def _of_study(self) -> Any:
        study = self.__dict__.get("_study")
        if study is None:
            raise InvalidError(
                f"trial {self.number} has no study to report to: it was not given by `ask`, the study has no fidelity, or it "
                "is in the memory of another process",
                {"field": "trial", "value": self.number},
            )
        return study

    def __getstate__(self) -> dict[str, Any]:
        # A study in memory stays in its process.
        fields = dict(self.__dict__)
        study = fields.get("_study")
        if study is not None and study.storage is None:
            del fields["_study"]
        return fields

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def __contains__(self, name: object) -> bool:
        return name in self.params

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a dimension; the default where it does not exist."""
        return self.params.get(name, default)

    def __repr__(self) -> str:
        told = ""
        if len(self.values) == 1:
            told = f", value={self.value!r}"
        elif self.values:
            told = f", values={self.values!r}"
        elif self.reason:
            told = f", reason={self.reason!r}"
        return f"Trial({self.number}, {self.state}, params={self.params!r}{told})"

    def _repr_html_(self) -> str:
        rows = [("state", self.state), *self.values.items(), *self.params.items()]
        if self.reason:
            rows.append(("reason", self.reason))
        return _html.pairs(f"Trial {self.number}", rows)


class Front(list[Trial]):
    """Trials that no other one dominates: a list, best first by the first objective."""

    def __init__(self, trials: Iterable[Trial] = (), reference: dict[str, float] | None = None, hypervolume: float = 0.0):
        super().__init__(trials)
        #: The reference point of the hypervolume, by objective; inferred from the front unless the study has one.
        self.reference = dict(reference or {})
        #: The hypervolume between the front and the reference point.
        self.hypervolume = hypervolume

    def _repr_html_(self) -> str:
        return _html.trials("Front", self)


def from_fields(fields: Mapping[str, Any], params: dict[str, Any]) -> Trial:
    """A trial from what the extension says."""
    from datetime import datetime, timezone

    told = {**fields, "params": params}
    for name in ("started", "finished"):
        if name in told:
            told[name] = datetime.fromtimestamp(told[name], timezone.utc)
    return Trial(**told)
