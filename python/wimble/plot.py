"""Pictures of a study, with matplotlib. Each function draws into `ax`, or into a new figure, and returns the axes.

    import wimble.plot
    wimble.plot.history(study).figure.savefig("history.png")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as pyplot
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from wimble._errors import InvalidError
from wimble._space import Boolean, Categorical, Integer, Ordinal, Real
from wimble._study import Study
from wimble._trial import Trial

#: What has an axis; constants and shares have none.
_DRAWN = (Real, Integer, Boolean, Categorical, Ordinal, list)
_POINT, _LINE, _BAD = "#4c78a8", "#e45756", "#9d9da1"


def _axes(ax: Any, **arguments: Any) -> Any:
    return ax if ax is not None else pyplot.subplots(layout="constrained", **arguments)[1]


def _objective(study: Study, name: str | None) -> str:
    names = list(study.goal.objectives)
    if name is not None and name not in names:
        raise InvalidError(f"there is no objective {name!r}; the objectives are {', '.join(names)}", {"field": "objective"})
    return name or names[0]


def _complete(study: Study) -> list[Trial]:
    trials = study.trials("complete")
    if not trials:
        raise InvalidError(f"study {study.name!r} has no trial with a value to draw", {"field": "study"})
    return trials


def history(study: Study, objective: str | None = None, *, ax: Any = None) -> Any:
    """The value of each trial, and the best so far. Trials without a value are marked at the bottom."""
    ax, name = _axes(ax), _objective(study, objective)
    trials = _complete(study)
    better = max if study.goal.objectives[name] else min
    numbers = [t.number for t in trials]
    values = [t.values[name] for t in trials]
    best = [better(values[: place + 1]) for place in range(len(values))] if len(values) < 2000 else _running(values, better)
    ax.plot(numbers, values, "o", ms=4, color=_POINT, alpha=0.6, label="trials")
    ax.plot(numbers, best, drawstyle="steps-post", color=_LINE, label="best so far")
    none = [t.number for state in ("failed", "infeasible") for t in study.trials(state)]
    if none:
        ax.plot(none, [0.02] * len(none), "x", ms=5, color=_BAD, transform=ax.get_xaxis_transform(), label="without a value")
    ax.set(xlabel="trial", ylabel=name, title=study.name)
    ax.legend()
    return ax


def _running(values: Sequence[float], better: Any) -> list[float]:
    best: list[float] = []
    for value in values:
        best.append(better(best[-1], value) if best else value)
    return best


def front(study: Study, objectives: tuple[str, str] | None = None, *, ax: Any = None) -> Any:
    """Two objectives against each other; trials that no other one dominates are joined."""
    ax = _axes(ax)
    names = list(study.goal.objectives)
    if objectives is None and len(names) < 2:
        raise InvalidError(f"study {study.name!r} has one objective; a front needs two", {"field": "objectives"})
    x, y = objectives or (names[0], names[1])
    x, y = _objective(study, x), _objective(study, y)
    trials, best = _complete(study), sorted(study.front, key=lambda t: t.values[x])
    ax.plot([t.values[x] for t in trials], [t.values[y] for t in trials], "o", ms=4, color=_POINT, alpha=0.5, label="trials")
    joined = "-o" if len(names) == 2 else "o"
    ax.plot([t.values[x] for t in best], [t.values[y] for t in best], joined, ms=5, color=_LINE, label="front")
    ax.set(xlabel=x, ylabel=y, title=study.name)
    ax.legend()
    return ax


def importance(study: Study, objective: str | None = None, *, ax: Any = None) -> Any:
    """The share of the variance that each parameter causes, in total and alone, with the interval of the total."""
    ax, name = _axes(ax), _objective(study, objective)
    found = study.importance(name)
    names = list(reversed(found))
    means = [found[n].total.mean for n in names]
    low = [found[n].total.mean - found[n].total.low for n in names]
    high = [found[n].total.high - found[n].total.mean for n in names]
    ax.barh(names, means, xerr=[[max(0, v) for v in low], [max(0, v) for v in high]], color=_POINT, alpha=0.5, label="in total")
    ax.barh(names, [found[n].alone.mean for n in names], height=0.4, color=_POINT, label="alone")
    ax.set(xlabel=f"share of the variance of {name}", title=f"{study.name}: the model explains {max(0, found.explained):.0%}")
    ax.legend(loc="lower right")
    return ax


def slice(study: Study, param: str, *, at: Trial | None = None, ax: Any = None) -> Any:
    """The value against one parameter: trials, and the model's mean and band (one deviation) along a line through `at`.

    `at` is a trial; default: the recommended one. What the method does not model is not drawn.
    """
    ax, name = _axes(ax), next(iter(study.goal.objectives))
    if param not in study.space:
        raise InvalidError(f"there is no parameter {param!r}; there are {', '.join(study.space)}", {"field": "param"})
    kind = study.space[param]
    if not isinstance(kind, _DRAWN):
        raise InvalidError(f"parameter {param!r} has one value, or several at a time: {kind!r}", {"field": "param"})
    trials = [t for t in _complete(study) if param in t]
    at = at or study.recommended
    ax.plot([_number(kind, t[param]) for t in trials], [t.values[name] for t in trials], "o", ms=4, color=_POINT, alpha=0.6)
    if at is not None and param in at:
        points = [(value, point) for value in _line(study, param) if (point := _moved(study, at, param, value)) is not None]
        line = [value for value, _ in points]
        forecasts = study.predict([point for _, point in points])
        if forecasts and forecasts[0].mean is not None:
            places = [_number(kind, value) for value in line]
            means = [f.mean or 0.0 for f in forecasts]
            bands = [f.deviation or 0.0 for f in forecasts]
            label = f"model through trial {at.number}"
            if _choices(kind) and not isinstance(kind, Ordinal):
                # Nothing lies between choices without order.
                ax.errorbar(places, means, bands, fmt="s", ms=5, color=_LINE, label=label)
            else:
                low, high = [m - b for m, b in zip(means, bands)], [m + b for m, b in zip(means, bands)]
                ax.plot(places, means, "-" if len(line) > 20 else "-o", ms=3, color=_LINE, label=label)
                ax.fill_between(places, low, high, color=_LINE, alpha=0.2, lw=0)
            ax.legend()
    _ticks(ax.xaxis, kind)
    if getattr(kind, "log", False):
        ax.set_xscale("log")
    ax.set(xlabel=param, ylabel=name, title=study.name)
    return ax


def parallel(study: Study, objective: str | None = None, *, ax: Any = None) -> Any:
    """Parallel coordinates: a line for each trial, coloured by its value; the best are drawn last."""
    ax, name = _axes(ax, figsize=(8, 4)), _objective(study, objective)
    trials = _complete(study)
    up = study.goal.objectives[name]
    trials.sort(key=lambda t: t.values[name], reverse=not up)
    params = {n: kind for n, kind in study.space.items() if isinstance(kind, _DRAWN)}
    values = [t.values[name] for t in trials]
    norm = Normalize(min(values), max(values) if max(values) > min(values) else min(values) + 1)
    colours = pyplot.get_cmap("viridis" if up else "viridis_r")
    for t in trials:
        heights = [_height(kind, t[n]) if n in t else float("nan") for n, kind in params.items()]
        ax.plot(range(len(params)), heights, color=colours(norm(t.values[name])), alpha=0.7, lw=1, marker="o", ms=2)
    for place, kind in enumerate(params.values()):
        for height, label in _ends(kind):
            short = label if len(label) <= 14 else f"{label[:13]}…"
            paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
            ax.text(place + 0.04, height, short, fontsize=7, va="center", ha="left", bbox=paper)
    ax.set_xticks(range(len(params)), list(params))
    ax.set(ylim=(-0.05, 1.05), xlim=(-0.2, len(params) - 0.5), yticks=[], title=study.name)
    ax.grid(axis="x")
    ax.figure.colorbar(ScalarMappable(norm, colours), ax=ax, label=name)
    return ax


def curves(study: Study, objective: str | None = None, *, ax: Any = None) -> Any:
    """Learning curves: the steps of each trial. Trials that were stopped end in a cross; the best whole trial is drawn last."""
    name = _objective(study, objective)
    if study.fidelity is None:
        raise InvalidError(f"study {study.name!r} has no fidelity, and its trials no steps", {"field": "study"})
    ((step, (_, end)),) = study.fidelity.items()
    drawn: list[tuple[Trial, list[tuple[float, float]]]] = []
    for trial in study.trials():
        steps = [(at, values[name]) for at, values in study.steps(trial) if name in values]
        if trial.state == "complete" and (not steps or steps[-1][0] < end):
            # Its value is that at the end.
            steps.append((end, trial.values[name]))
        if steps:
            drawn.append((trial, steps))
    if not drawn:
        raise InvalidError(f"study {study.name!r} has no steps to draw", {"field": "study"})
    ax = _axes(ax)
    whole = [(trial, steps) for trial, steps in drawn if trial.state == "complete"]
    turned = -1.0 if study.goal.objectives[name] else 1.0
    best = min(whole, key=lambda one: turned * one[0].values[name], default=None)
    for trial, steps in drawn:
        colour = _BAD if trial.state in ("stopped", "failed") else _POINT
        ax.plot(*zip(*steps), "-" if len(steps) > 1 else "o", ms=3, lw=1, color=colour, alpha=0.6)
    ends = [steps[-1] for trial, steps in drawn if trial.state == "stopped"]
    if ends:
        ax.plot(*zip(*ends), "x", ms=5, color=_BAD, label="stopped")
    if best is not None:
        ax.plot(*zip(*best[1]), "-" if len(best[1]) > 1 else "o", lw=2, color=_LINE, label=f"best: trial {best[0].number}")
    if ax.get_legend_handles_labels()[0]:
        ax.legend()
    ax.set(xlabel=step, ylabel=name, title=study.name)
    return ax


def _moved(study: Study, at: Trial, param: str, value: Any) -> dict[str, Any] | None:
    """A trial's configuration with another value; None if that calls for parameters that the trial does not have."""
    moved: dict[str, Any] = {}
    for name, kind in study.space.items():
        when = getattr(kind, "when", None)
        if when is not None:
            ((parent, wanted),) = when.items()
            wanted = wanted if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
            if parent not in moved or moved[parent] not in wanted:
                continue
        if name != param and name not in at:
            return None
        moved[name] = value if name == param else at[name]
    return moved


def _choices(kind: Any) -> list[Any]:
    if isinstance(kind, Boolean):
        return [False, True]
    if isinstance(kind, Categorical):
        return list(kind.choices)
    if isinstance(kind, Ordinal):
        return list(kind.levels)
    return list(kind) if isinstance(kind, list) else []


def _number(kind: Any, value: Any) -> float:
    choices = _choices(kind)
    return float(choices.index(value)) if choices else float(value)


def _line(study: Study, param: str) -> list[Any]:
    """Values along a dimension."""
    kind = study.space[param]
    if choices := _choices(kind):
        return choices
    if isinstance(kind, Real) and kind.step is not None:
        # The engine's own numbers: sums of steps differ from them in the last digit.
        return next(list(fields["levels"]) for fields in study._translation.space.dimensions() if fields["name"] == param)
    shares = [n / 100 for n in range(101)]
    low, high = kind.low, kind.high
    values = [low * (high / low) ** u if kind.log else low + (high - low) * u for u in shares]
    if isinstance(kind, Integer):
        return sorted({min(low + round((v - low) / kind.step) * kind.step, high) for v in values})
    return [min(max(value, low), high) for value in values]


def _height(kind: Any, value: Any) -> float:
    """A place between 0 and 1."""
    import math

    if choices := _choices(kind):
        return _number(kind, value) / max(1, len(choices) - 1)
    if kind.log:
        return math.log(value / kind.low) / math.log(kind.high / kind.low)
    return float((value - kind.low) / (kind.high - kind.low))


def _ends(kind: Any) -> list[tuple[float, str]]:
    if choices := _choices(kind):
        return [(place / max(1, len(choices) - 1), str(choice)) for place, choice in enumerate(choices)]
    return [(0.0, f"{kind.low:g}"), (1.0, f"{kind.high:g}")]


def _ticks(axis: Any, kind: Any) -> None:
    if choices := _choices(kind):
        axis.set_ticks(range(len(choices)), [str(choice) for choice in choices])
