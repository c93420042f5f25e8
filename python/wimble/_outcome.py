"""Outcomes: a number, values by name, or one of the two ways in which a trial has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from wimble._errors import MeasurementError
from wimble._goal import Goal

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from wimble._record import dataclass


@dataclass(frozen=True)
class Failed:
    """The evaluation failed and gave no value; another attempt might give one."""

    reason: str = ""
    output: str = ""

    def __call__(self, reason: str, output: str = "") -> Failed:
        """The same with a reason: `wimble.FAILED("it diverged")`."""
        return Failed(reason, output)

    def __repr__(self) -> str:
        return f"FAILED({self.reason!r})" if self.reason else "FAILED"


@dataclass(frozen=True)
class Infeasible:
    """The configuration cannot be evaluated, and another attempt would not change that."""

    def __repr__(self) -> str:
        return "INFEASIBLE"


@dataclass(frozen=True)
class Stopped:
    """The evaluation ended early: the last step that was reported is the outcome."""

    def __repr__(self) -> str:
        return "STOPPED"


@dataclass(frozen=True)
class Measured:
    """A value with the standard deviation of its noise; made by :func:`measured`."""

    value: float
    deviation: float | None = None


#: Tell this for a trial that failed; `FAILED("why")` keeps a reason.
FAILED = Failed()
#: Tell this for a configuration that cannot be evaluated.
INFEASIBLE = Infeasible()
#: Tell this for a trial that ended early: its last reported step is its outcome.
STOPPED = Stopped()


def measured(value: float, deviation: float | None = None) -> Measured:
    """A value with the standard deviation of its noise, where that is known."""
    return Measured(float(value), None if deviation is None else float(deviation))


#: What may be told: a number, numbers in the order of the objectives, values by name, FAILED, INFEASIBLE or STOPPED.
Outcome = Union[float, Measured, Sequence[float], Mapping[str, Any], Failed, Infeasible, Stopped]

#: What the extension takes: values by name, (reason, output), or True for infeasible.
Given = Union[dict[str, tuple[float, Union[float, None]]], tuple[str, str], bool]


def read(goal: Goal, outcome: Any) -> tuple[Given, dict[str, Any]]:
    """An outcome for the extension, and what was told beside it."""
    if isinstance(outcome, Failed):
        return (outcome.reason, outcome.output), {}
    if isinstance(outcome, Infeasible):
        return True, {}
    names = list(goal.objectives)
    if isinstance(outcome, Mapping):
        known = {*names, *goal.constraints}
        beside = {str(name): value for name, value in outcome.items() if name not in known}
        return {name: _number(name, value) for name, value in outcome.items() if name in known}, beside
    if isinstance(outcome, Measured) or _is_number(outcome):
        values = [outcome]
    elif isinstance(outcome, Sequence) and not isinstance(outcome, (str, bytes)) or hasattr(outcome, "tolist"):
        values = list(outcome)
    else:
        raise TypeError(
            f"the outcome is {outcome!r}, but must be a number, a dictionary of values, wimble.FAILED or wimble.INFEASIBLE"
        )
    if len(values) != len(names):
        raise MeasurementError(
            f"the outcome is {outcome!r}, but must have a value for each objective: {', '.join(names)}"
        )
    return {name: _number(name, value) for name, value in zip(names, values)}, {}


def _is_number(value: Any) -> bool:
    if isinstance(value, (str, bytes)) or getattr(value, "shape", ()) != ():
        return False
    return hasattr(value, "__float__") or hasattr(value, "__index__")


def _number(name: str, value: Any) -> tuple[float, float | None]:
    if isinstance(value, Measured):
        return value.value, value.deviation
    if not _is_number(value):
        raise TypeError(f"the value of `{name}` is {value!r}, but must be a number")
    return float(value), None
