"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wimble._trial import Trial

_SHOWN = 50


def text(value: Any) -> str:
    """A value, short."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """A table."""
    from html import escape

    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(text(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<div><b>{escape(title)}</b><table><tr>{head}</tr>{body}</table>{below}</div>"


def pairs(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """Names and values."""
    return table(title, ["", ""], rows)


def trials(title: str, all: Sequence[Trial]) -> str:
    """A table of trials, the first ones."""
    values = list(dict.fromkeys(name for trial in all for name in trial.values))
    params = list(dict.fromkeys(name for trial in all for name in trial.params))
    rows = [
        [trial.number, trial.state]
        + [trial.values.get(name, "") for name in values]
        + [trial.params.get(name, "") for name in params]
        for trial in all[:_SHOWN]
    ]
    note = f"{len(all) - _SHOWN} more" if len(all) > _SHOWN else ""
    return table(title, ["trial", "state", *values, *params], rows, note)
