"""Exceptions of one family: what went wrong in the message, the facts as attributes.

>>> import wimble
>>> try:
...     wimble.Study("s", {"x": wimble.real(3, 1)})
... except wimble.InvalidError as error:
...     print(error.field, error.value)
x.low 3.0
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import Any


class Error(Exception):
    """Whatever wimble refuses. Each fact of the message is an attribute too."""

    def __init__(self, message: str = "", facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts: dict[str, Any] = dict(facts or {})

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(f"{type(self).__name__} has no fact `{name}`; it has {sorted(facts)}")

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.facts)


class InvalidError(Error, ValueError):
    """A setting or an argument has a value that is not allowed: `field`, `value`, `allowed`."""


class MissingValueError(Error, KeyError):
    """A configuration lacks a value: `dimension`, `allowed`."""


class UnexpectedValueError(Error, KeyError):
    """A configuration has a value where none belongs: `dimension`, `reason`."""


class ExhaustedError(Error):
    """A finite space has no untried configuration left: `requested`."""


class NonFiniteError(Error, ValueError):
    """A value is NaN or infinite: `trial`, `value`."""


class MeasurementError(Error, ValueError):
    """A result does not fit the goal: `trial`, `reason`."""


class UnservedError(Error, ValueError):
    """The method cannot work towards the goal: `method`, `goal`, `serving`."""


class UnknownStudyError(Error, KeyError):
    """There is no study of this name: `study`."""


class UnknownTrialError(Error, KeyError):
    """There is no such trial: `trial`, `issued`."""


class AlreadyToldError(Error):
    """The trial is finished already: `trial`, `outcome`."""


class LeaseLostError(Error):
    """The trial belongs to somebody else by now: `trial`, `reason`."""


class KeyReusedError(Error, ValueError):
    """A key was used for something else before: `key`."""


class DiffersError(Error, ValueError):
    """The study exists with other settings: `study`, `differences`."""


class ReplacedError(Error):
    """The study was deleted and created anew while it was open: `study`."""


class PausedError(Error):
    """The study is paused, so that no trial begins until it goes on: `study`."""


class AddressError(Error, ValueError):
    """The address of a storage cannot be understood: `address`, `reason`."""


class StorageError(Error, OSError):
    """The storage failed; the call may be made again: `place`, `doing`."""


class BusyError(StorageError):
    """Other processes kept the storage busy for too long: `place`."""


class CorruptError(Error):
    """What is stored cannot be read back."""


class LaterVersionError(Error):
    """A later version of wimble wrote this storage."""


class ExchangeError(Error, ValueError):
    """Trials cannot be read from a file, or written to it."""


class CommandError(Error, RuntimeError):
    """The command of a study file cannot be run, or fails every time: `reason`, `output`."""


class ModelError(Error, ArithmeticError):
    """The method's model failed."""


class ForkError(Error, RuntimeError):
    """A study was used in a process that was forked from the one that opened it."""


def whole(name: str, value: Any, least: int | None = None) -> int:
    """An integer, NumPy's too, of at least so much; what else is given is refused by name."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, but must be an integer") from None
    if least is not None and number < least:
        raise InvalidError(
            f"{name} is {number}, but must be {'positive' if least == 1 else f'at least {least}'}",
            {"field": name, "value": number},
        )
    if number >= 2**64:
        raise InvalidError(f"{name} is {number}, but must be below 2 to the 64th", {"field": name, "value": number})
    return number


__all__ = [name for name, value in list(globals().items()) if isinstance(value, type) and issubclass(value, Error)]
