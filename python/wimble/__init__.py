"""Batch Bayesian optimisation: finds the minimum of expensive functions, many points at a time.

>>> import wimble
>>> space = {
...     "learning_rate": wimble.real(1e-5, 1e-1, log=True),
...     "layers": wimble.integer(1, 8),
...     "optimizer": ["adam", "sgd"],
...     "momentum": wimble.real(0, 0.99, when={"optimizer": "sgd"}),
... }
>>> def train(learning_rate, layers, optimizer, momentum=0.0):
...     return abs(layers - 3) + (learning_rate - 0.01) ** 2 + (optimizer == "adam")
>>> result = wimble.minimize(train, space, trials=40, seed=0)
>>> result.params["layers"], result.params["optimizer"]
(3, 'sgd')

`wimble.minimize` runs a function; `wimble.Study` asks and tells, and keeps its trials where you want them.
`wimble.optuna`, `wimble.sklearn`, `wimble.ray` and `wimble.plot` are for those who have these libraries; each is imported when it is
first used.
"""

from __future__ import annotations

import atexit as _atexit
from typing import TYPE_CHECKING as _TYPE_CHECKING

from wimble import _wimble
from wimble._errors import *  # noqa: F403
from wimble._errors import __all__ as _errors
from wimble._forecast import Advice, Estimate, Forecast, Importance, Share
from wimble._goal import Goal
from wimble._minimize import Result, maximize, minimize
from wimble._outcome import FAILED, INFEASIBLE, STOPPED, Failed, Infeasible, Measured, Stopped, measured
from wimble._space import (
    Boolean,
    Categorical,
    Integer,
    Ordinal,
    Real,
    Shares,
    boolean,
    categorical,
    integer,
    ordinal,
    real,
    shares,
)
from wimble._study import Study
from wimble._trial import Front, Trial

__version__: str = _wimble.__version__

minimise = minimize
maximise = maximize


def methods() -> dict[str, str]:
    """The methods by name, each with a line about it.

    >>> import wimble
    >>> "auto" in wimble.methods()
    True
    """
    return dict(_wimble.methods())


_atexit.register(_wimble.ending)

if not _TYPE_CHECKING:
    # Type checkers shall know a name that there is none of.

    def __getattr__(name: str) -> object:
        if name in ("optuna", "plot", "ray", "sklearn"):
            import importlib

            return importlib.import_module(f"wimble.{name}")
        import sys

        # With these, the traceback proposes the name that was meant.
        raise AttributeError(f"module 'wimble' has no attribute {name!r}", name=name, obj=sys.modules[__name__])

__all__ = [
    "FAILED",
    "INFEASIBLE",
    "STOPPED",
    "Advice",
    "Boolean",
    "Categorical",
    "Estimate",
    "Failed",
    "Forecast",
    "Front",
    "Goal",
    "Importance",
    "Infeasible",
    "Integer",
    "Measured",
    "Ordinal",
    "Real",
    "Result",
    "Share",
    "Shares",
    "Stopped",
    "Study",
    "Trial",
    "boolean",
    "categorical",
    "integer",
    "maximise",
    "maximize",
    "measured",
    "methods",
    "minimise",
    "minimize",
    "ordinal",
    "real",
    "shares",
    *_errors,
]
