"""Trials that the method did not propose: guesses of one's own, and what was evaluated elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from wimble import _outcome
from wimble._goal import Goal
from wimble._outcome import Outcome
from wimble._space import Translation
from wimble._trial import Trial

if TYPE_CHECKING:
    from dataclasses import dataclass

    import pandas  # type: ignore[import-untyped,unused-ignore]
else:
    from wimble._record import dataclass

#: What was stopped is no outcome without its study's fidelity.
_LEFT_OUT = ("queued", "running", "stopped")


@dataclass(frozen=True)
class Row:
    """A trial to add; without an outcome, one to be tried next."""

    params: Mapping[str, Any]
    outcome: Outcome | None = None
    attributes: Mapping[str, Any] | None = None
    key: str | None = None


def rows(source: Iterable[Trial] | pandas.DataFrame, translation: Translation, goal: Goal) -> list[Row]:
    """The finished trials of a list, or of the rows of a DataFrame."""
    if hasattr(source, "to_dict") and hasattr(source, "columns"):
        return [_of_record(record, translation, goal) for record in source.to_dict("records")]
    return [Row(trial.params, _retold(trial), trial.attributes) for trial in source if trial.state not in _LEFT_OUT]


def to_engine(row: Row, translation: Translation, goal: Goal) -> tuple[str, dict[str, Any], Any, dict[str, Any] | None]:
    """What the engine takes: a key, the configuration, the outcome, attributes."""
    import uuid

    given, beside = (None, {}) if row.outcome is None else _outcome.read(goal, row.outcome)
    kept = {**beside, **(row.attributes or {})}
    return row.key or uuid.uuid4().hex, translation.to_engine(row.params), given, kept or None


def _of_record(record: Mapping[Any, Any], translation: Translation, goal: Goal) -> Row:
    """The trial of a row; one with no value for an objective or a constraint has failed."""
    params = {}
    for name in translation.given:
        value = record.get(f"params_{name}", record.get(name))
        if _is_there(value):
            params[name] = value
    names = [*goal.objectives, *goal.constraints]
    values = {name: record[name] for name in names if _is_there(record.get(name))}
    return Row(params, values if len(values) == len(names) else _outcome.FAILED)


def _is_there(value: Any) -> bool:
    # pandas has NaN where there is nothing.
    return value is not None and value == value


def _retold(trial: Trial) -> Any:
    if trial.state == "complete":
        return {name: _outcome.measured(value, trial.deviations.get(name)) for name, value in trial.values.items()}
    return _outcome.INFEASIBLE if trial.state == "infeasible" else _outcome.FAILED(trial.reason, trial.output)
