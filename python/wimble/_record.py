"""Frozen records: what `dataclasses` makes of a class, made without importing it.

`dataclasses` and what it needs, with the code that it compiles for each class, took about half of the time of `import wimble` in a profile of its imports. Type checkers see the
original, and `dataclasses.fields`, `replace` and `asdict` work. What is left out is what nobody here needs: inheritance, order, slots.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MISSING: Any = object()


class _Field:
    """The default of a field, and whether it is given by name only."""

    def __init__(self, default: Any = _MISSING, default_factory: Any = _MISSING, kw_only: bool = False) -> None:
        self.default, self.default_factory, self.kw_only = default, default_factory, kw_only

    def given(self) -> dict[str, Any]:
        """What was given of it, for `dataclasses.field`."""
        return {name: value for name, value in self.__dict__.items() if value is not _MISSING}


field = _Field


def dataclass(*, frozen: bool, repr: bool = True) -> Callable[[type], type]:
    """Makes the class one of frozen records, from its annotations."""
    assert frozen, "there are only frozen records"

    def make(cls: type) -> type:
        fields: dict[str, _Field] = {}
        for name in cls.__annotations__:
            default = cls.__dict__.get(name, _MISSING)
            fields[name] = default if isinstance(default, _Field) else _Field(default)
            if isinstance(default, _Field):
                delattr(cls, name)
        positional = tuple(name for name, one in fields.items() if not one.kw_only)

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if len(args) > len(positional):
                raise TypeError(f"{cls.__name__}() takes {len(positional)} positional arguments, but {len(args)} were given")
            for name in positional[: len(args)]:
                if name in kwargs:
                    raise TypeError(f"{cls.__name__}() got two values for {name!r}")
            kwargs.update(zip(positional, args))
            values = self.__dict__
            for name, one in fields.items():
                if name in kwargs:
                    values[name] = kwargs.pop(name)
                elif one.default is not _MISSING:
                    values[name] = one.default
                elif one.default_factory is not _MISSING:
                    values[name] = one.default_factory()
                else:
                    raise TypeError(f"{cls.__name__}() needs a value for {name!r}")
            if kwargs:
                raise TypeError(f"{cls.__name__}() has no argument {next(iter(kwargs))!r}")

        def content(self: Any) -> tuple[Any, ...]:
            return tuple(self.__dict__[name] for name in fields)

        def __eq__(self: Any, other: Any) -> Any:
            return content(self) == content(other) if other.__class__ is self.__class__ else NotImplemented

        def __repr__(self: Any) -> str:
            return f"{cls.__qualname__}({', '.join(f'{name}={self.__dict__[name]!r}' for name in fields)})"

        def refuse(self: Any, name: str, value: Any = None) -> None:
            raise AttributeError(f"{cls.__name__} cannot be changed, so that {name!r} cannot be set or deleted")

        made = {
            "__init__": __init__,
            "__eq__": __eq__,
            "__hash__": lambda self: hash(content(self)),
            "__setattr__": refuse,
            "__delattr__": refuse,
            "__match_args__": positional,
            **{name: _Original(fields, name) for name in ("__dataclass_fields__", "__dataclass_params__", "__signature__")},
            **({"__repr__": __repr__} if repr and "__repr__" not in cls.__dict__ else {}),
        }
        for name, value in made.items():
            setattr(cls, name, value)
        return cls

    return make


class _Original:
    """What `dataclasses`, or `inspect`, would say of the class; they are imported when somebody asks."""

    def __init__(self, fields: dict[str, _Field], what: str) -> None:
        self.fields, self.what = fields, what

    def __get__(self, record: object, cls: type) -> Any:
        import dataclasses
        import inspect

        given = [(name, cls.__annotations__[name], dataclasses.field(**one.given())) for name, one in self.fields.items()]
        original = dataclasses.make_dataclass(cls.__name__, given, frozen=True)
        return inspect.signature(original) if self.what == "__signature__" else getattr(original, self.what)
