"""Search spaces: dictionaries from names to what may be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from wimble import _wimble
from wimble._errors import InvalidError

if TYPE_CHECKING:
    from dataclasses import dataclass, field
else:
    from wimble._record import dataclass, field

When = Union[Mapping[str, Any], None]
#: Where the best value is expected: a value, or `{"at": value, "spread": 0.15}`.
Prior = Any


@dataclass(frozen=True)
class Real:
    """Real numbers; made by :func:`real`."""

    low: float
    high: float
    log: bool = False
    step: float | None = None
    when: When = field(default=None, kw_only=True)
    prior: Prior = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Integer:
    """Integers; made by :func:`integer`."""

    low: int
    high: int
    log: bool = False
    step: int = 1
    when: When = field(default=None, kw_only=True)
    prior: Prior = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Boolean:
    """True or false; made by :func:`boolean`."""

    when: When = field(default=None, kw_only=True)
    prior: Prior = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Categorical:
    """Choices without order; made by :func:`categorical`."""

    choices: tuple[Any, ...]
    when: When = field(default=None, kw_only=True)
    prior: Prior = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Ordinal:
    """Levels in order; made by :func:`ordinal`."""

    levels: tuple[Any, ...]
    when: When = field(default=None, kw_only=True)
    prior: Prior = field(default=None, kw_only=True)


@dataclass(frozen=True)
class Shares:
    """Parts of a whole that sum to one; made by :func:`shares`."""

    of: tuple[str, ...]
    when: When = field(default=None, kw_only=True)


Dimension = Union[Real, Integer, Boolean, Categorical, Ordinal, Shares]
#: What a space may be given as: dimensions, lists of choices, and constants.
SpaceLike = Mapping[str, Any]


def real(
    low: float, high: float, *, log: bool = False, step: float | None = None, when: When = None, prior: Prior = None
) -> Real:
    """Real numbers from `low` to `high`; with `log`, ratios matter and not differences; with `step`, multiples of it from `low`.

    `when={"optimizer": "sgd"}` makes a dimension exist only where another one has this value, or one of a list of values.
    `prior=1e-3` says where the best value is expected, and `prior={"at": 1e-3, "spread": 0.1}` how surely: the spread is the
    deviation that would not surprise, as a share of the range. A wrong prior costs trials, and hides nothing.

    >>> import wimble
    >>> wimble.real(1e-5, 1e-1, log=True).log
    True
    >>> study = wimble.Study("steps", {"x": wimble.real(0, 1, step=0.25)}, method="grid")
    >>> [trial["x"] for trial in study.ask(5)]
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return Real(low, high, log, step, when=when, prior=prior)


def integer(
    low: int, high: int, *, log: bool = False, step: int = 1, when: When = None, prior: Prior = None
) -> Integer:
    """Integers from `low` to `high`, both included; with `step`, every step-th one."""
    return Integer(low, high, log, step, when=when, prior=prior)


def boolean(*, when: When = None, prior: Prior = None) -> Boolean:
    """True or false."""
    return Boolean(when=when, prior=prior)


def categorical(choices: Iterable[Any], *, when: When = None, prior: Prior = None) -> Categorical:
    """Choices without order. In a space, a list means the same. Choices may be any objects."""
    return Categorical(tuple(choices), when=when, prior=prior)


def ordinal(levels: Iterable[Any], *, when: When = None, prior: Prior = None) -> Ordinal:
    """Levels in order, such as small, medium, large."""
    return Ordinal(tuple(levels), when=when, prior=prior)


def shares(of: Iterable[str], *, when: When = None) -> Shares:
    """Parts of a whole, from 0 to 1, that sum to one. Each part is a parameter with a name of its own.

    >>> import wimble
    >>> wimble.shares(["flour", "water", "salt"])
    Shares(of=('flour', 'water', 'salt'), when=None)
    """
    return Shares(tuple(of), when=when)


class Translation:
    """A space for the engine, and the way from the user's values to the engine's and back.

    The engine's choices are bools, numbers and texts. Other objects are known to it by a text. A list of one choice, and any
    plain value, is a constant: the engine does not see it.
    """

    def __init__(self, space: SpaceLike, known: Iterable[str] = ()) -> None:
        if not isinstance(space, Mapping):
            raise TypeError(
                f"the space is a {type(space).__name__}, but must be a dictionary from names to dimensions, "
                'such as {"x": wimble.real(0, 1), "kind": ["a", "b"]}'
            )
        self.given: dict[str, Any] = dict(space)
        self.constants: dict[str, Any] = {}
        self._objects: dict[str, dict[str, Any]] = {}
        described = [self._describe(name, entry) for name, entry in self.given.items()]
        dimensions = [dimension for dimension in described if dimension is not None]
        if not dimensions:
            raise InvalidError("the space has no dimension to search; give it at least one", {"field": "space"})
        known = [known] if isinstance(known, str) else [str(text) for text in known]
        self.space = _wimble.Space(dimensions, known=known)

    @classmethod
    def of_engine(cls, space: _wimble.Space) -> Translation:
        """Of a stored study. Objects that the engine knows by a text stay texts."""
        translation = cls.__new__(cls)
        translation.given = {fields["name"]: _dimension(fields) for fields in space.dimensions()}
        translation.constants = {}
        translation._objects = {}
        translation.space = space
        return translation

    def to_engine(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The engine's configuration."""
        if not isinstance(params, Mapping):
            raise TypeError(f"the configuration is {params!r}, but must be a dictionary from names to values")
        engine = {}
        for name, value in params.items():
            if name in self.constants:
                continue
            engine[name] = _label(value) if name in self._objects else value
        return engine

    def fix(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values that a user gives for some names."""
        for name, value in values.items():
            if name in self.constants and value != self.constants[name]:
                raise InvalidError(
                    f"{name} is fixed at {value!r}, but the space has only {self.constants[name]!r} for it",
                    {"field": name, "value": repr(value)},
                )
        return self.to_engine(values)

    def from_engine(self, params: dict[str, Any]) -> dict[str, Any]:
        """The user's configuration, in the order of the space."""
        if not self.constants and not self._objects:
            return params
        translated = {}
        for name in self.given:
            entry = self.given[name]
            if name in self.constants:
                translated[name] = self.constants[name]
            elif isinstance(entry, Shares):
                translated |= {part: params[part] for part in entry.of if part in params}
            elif name in params:
                value = params[name]
                objects = self._objects.get(name)
                translated[name] = objects.get(value, value) if objects and isinstance(value, str) else value
        return translated

    def _describe(self, name: Any, entry: Any) -> dict[str, Any] | None:
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is the name of a dimension, but must be a str")
        if isinstance(entry, list):
            entry = Categorical(tuple(entry))
        if isinstance(entry, (tuple, set, frozenset, range, Mapping)):
            raise TypeError(
                f"{name} is {entry!r}, but must be a dimension: wimble.real(low, high), wimble.integer(low, high), "
                "or a list of choices"
            )
        if isinstance(entry, Categorical) and len(entry.choices) == 1 and entry.when is None:
            entry = entry.choices[0]
        if not isinstance(entry, (Real, Integer, Boolean, Categorical, Ordinal, Shares)):
            self.constants[name] = entry
            return None
        fields: dict[str, Any] = {"name": name}
        if isinstance(entry, Real):
            fields |= {"type": "real", "low": entry.low, "high": entry.high, "log": entry.log, "step": entry.step}
        elif isinstance(entry, Integer):
            fields |= {"type": "integer", "low": entry.low, "high": entry.high, "log": entry.log, "step": entry.step}
        elif isinstance(entry, Boolean):
            fields["type"] = "boolean"
        elif isinstance(entry, Categorical):
            fields |= {"type": "categorical", "choices": self._labels(name, entry.choices)}
        elif isinstance(entry, Shares):
            fields |= {"type": "shares", "of": list(entry.of)}
        else:
            fields |= {"type": "ordinal", "levels": self._labels(name, entry.levels)}
        if entry.when is not None:
            fields["when"] = self._condition(name, entry.when)
        if not isinstance(entry, Shares) and entry.prior is not None:
            fields["prior"] = self._prior(name, entry.prior)
        return fields

    def _prior(self, name: str, prior: Any) -> tuple[Any, float | None]:
        at, spread = prior, None
        if isinstance(prior, Mapping):
            unknown = {*prior} - {"at", "spread"}
            if "at" not in prior or unknown:
                raise InvalidError(
                    f'{name}.prior is {prior!r}, but must be a value, or such as {{"at": 1e-3, "spread": 0.15}}',
                    {"field": f"{name}.prior", "value": repr(prior)},
                )
            at, spread = prior["at"], prior.get("spread")
        return _label(at) if name in self._objects else at, None if spread is None else float(spread)

    def _labels(self, name: str, values: Sequence[Any]) -> list[Any]:
        if all(_is_plain(value) for value in values):
            return list(values)
        objects: dict[str, Any] = {}
        labels = []
        for value in values:
            label = _label(value)
            if isinstance(label, str):
                if label in objects:
                    raise InvalidError(
                        f"two choices of {name} are called {label!r}; give them as texts, and look the objects up",
                        {"field": name, "value": label},
                    )
                objects[label] = value
            labels.append(label)
        self._objects[name] = objects
        return labels

    def _condition(self, name: str, when: Any) -> tuple[str, list[Any]]:
        if not isinstance(when, Mapping) or len(when) != 1:
            raise InvalidError(
                f"{name}.when is {when!r}, but must be a dictionary with one name, "
                'such as {"optimizer": "sgd"} or {"optimizer": ["sgd", "adam"]}',
                {"field": f"{name}.when", "value": repr(when)},
            )
        ((parent, values),) = when.items()
        if not isinstance(values, (list, tuple, set, frozenset)):
            values = [values]
        if parent in self._objects:
            values = [_label(value) for value in values]
        return parent, list(values)


def _is_plain(value: Any) -> bool:
    return isinstance(value, (bool, int, float, str)) or (
        getattr(value, "shape", None) == () and hasattr(value, "item")
    )


def _label(value: Any) -> Any:
    """What the engine is told instead of an object."""
    if _is_plain(value):
        return value
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = repr(value)
    if " at 0x" in text:
        raise TypeError(
            f"the choice {text} has no name that is the same tomorrow; give a text instead, and look the object up"
        )
    return text


def _dimension(fields: Mapping[str, Any]) -> Dimension:
    when = None
    if "when" in fields:
        parent, values = fields["when"]
        when = {parent: values[0] if len(values) == 1 else values}
    kind = fields["type"]
    if kind == "shares":
        return Shares(tuple(fields["of"]), when=when)
    prior = None
    if "prior" in fields:
        prior = dict(zip(("at", "spread"), fields["prior"]))
    if kind == "real":
        return Real(fields["low"], fields["high"], fields["log"], when=when, prior=prior)
    if kind == "integer":
        return Integer(fields["low"], fields["high"], fields["log"], fields["step"], when=when, prior=prior)
    if kind == "boolean":
        return Boolean(when=when, prior=prior)
    if kind == "categorical":
        return Categorical(tuple(fields["choices"]), when=when, prior=prior)
    return Ordinal(tuple(fields["levels"]), when=when, prior=prior)
