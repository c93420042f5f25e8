"""What a study is for: objectives and constraints, as users write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from wimble._errors import InvalidError

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from wimble._record import dataclass

#: Names, all minimised, or names with directions.
Objectives = Union[str, Iterable[str], Mapping[str, str], None]
#: Names with limits: `{"memory": "<= 8"}`, `{"memory": ("<=", 8)}`, or a list of such limits.
Constraints = Union[Mapping[str, Any], None]

_DIRECTIONS = {
    "minimize": False,
    "minimise": False,
    "min": False,
    "maximize": True,
    "maximise": True,
    "max": True,
}


@dataclass(frozen=True)
class Goal:
    """Objectives, each with whether it is maximised, and constraints, each with its limits."""

    objectives: dict[str, bool]
    constraints: dict[str, list[tuple[str, float]]]

    @classmethod
    def of_engine(cls, objectives: list[tuple[str, bool]], constraints: list[tuple[str, bool, float]]) -> Goal:
        """From what the extension says."""
        limits: dict[str, list[tuple[str, float]]] = {}
        for name, at_most, bound in constraints:
            limits.setdefault(name, []).append(("<=" if at_most else ">=", bound))
        return cls(dict(objectives), limits)

    def to_engine(self) -> tuple[list[tuple[str, bool]], list[tuple[str, bool, float]]]:
        """For the extension."""
        constraints = [(name, sign == "<=", bound) for name, all in self.constraints.items() for sign, bound in all]
        return list(self.objectives.items()), constraints

    @property
    def is_single(self) -> bool:
        """Whether there is one objective and no constraint."""
        return len(self.objectives) == 1 and not self.constraints

    def __str__(self) -> str:
        wanted = [f"{'maximise' if up else 'minimise'} {name}" for name, up in self.objectives.items()]
        limits = [f"{name} {sign} {bound:g}" for name, all in self.constraints.items() for sign, bound in all]
        return ", ".join(wanted + limits)


def goal(objectives: Objectives, constraints: Constraints, direction: str | None) -> Goal | None:
    """A goal from arguments; None if they say nothing."""
    if objectives is None and constraints is None and direction is None:
        return None
    if objectives is None:
        named = {"value": maximised(direction or "minimize")}
    else:
        if direction is not None:
            raise InvalidError(
                'give either direction or objectives, such as objectives={"accuracy": "maximize"}',
                {"field": "direction", "value": direction},
            )
        if isinstance(objectives, str):
            objectives = [objectives]
        if isinstance(objectives, Mapping):
            named = {str(name): maximised(word) for name, word in objectives.items()}
        else:
            listed = [str(name) for name in objectives]
            named = dict.fromkeys(listed, False)
            if len(named) != len(listed):
                raise InvalidError(f"an objective is named twice: {listed}", {"field": "objectives"})
    return Goal(named, {str(name): _limits(name, given) for name, given in (constraints or {}).items()})


def read_fidelity(given: Mapping[str, tuple[float, float]] | None) -> tuple[str, float, float] | None:
    """The name of a fidelity, its lowest and its highest value."""
    if given is None:
        return None
    try:
        ((name, (low, high)),) = given.items()
        return str(name), float(low), float(high)
    except (AttributeError, TypeError, ValueError):
        raise InvalidError(
            f"fidelity is {given!r}, but must name one measure with its lowest and highest value: "
            '{"epochs": (1, 81)}',
            {"field": "fidelity", "value": given},
        ) from None


def maximised(word: Any) -> bool:
    """Whether a direction is that of maximising."""
    try:
        return _DIRECTIONS[word.lower()]
    except (KeyError, AttributeError):
        raise InvalidError(
            f"the direction is {word!r}, but must be 'minimize' or 'maximize'",
            {"field": "direction", "value": repr(word)},
        ) from None


def _limits(name: str, given: Any) -> list[tuple[str, float]]:
    if isinstance(given, list):
        return [limit for one in given for limit in _limits(name, one)]
    try:
        sign, bound = (given[:2], given[2:]) if isinstance(given, str) else given
        if sign not in ("<=", ">="):
            raise ValueError
        return [(sign, float(bound))]
    except (TypeError, ValueError):
        raise InvalidError(
            f"the constraint on {name} is {given!r}, but must be such as '<= 8' or ('<=', 8)",
            {"field": name, "value": repr(given)},
        ) from None
