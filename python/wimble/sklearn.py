"""A search estimator for scikit-learn: in the place of `RandomizedSearchCV`, with the same arguments.

    from scipy.stats import loguniform
    from sklearn.svm import SVC
    from wimble.sklearn import WimbleSearchCV

    search = WimbleSearchCV(SVC(), {"C": loguniform(1e-2, 1e3), "kernel": ["rbf", "linear"]}, n_iter=40, random_state=0)
    search.fit(X, y)
    search.best_params_, search.best_score_, search.study_
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy
from joblib import effective_n_jobs
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state

from wimble._outcome import FAILED
from wimble._space import Boolean, Categorical, Integer, Ordinal, Real
from wimble._study import Study

#: The share of a distribution that is left out at an end where it has no bound.
_TAIL = 1e-6
#: Choices that conditions may name.
_NAMED = (bool, int, float, str, type(None))


class WimbleSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Searches hyper-parameters by wimble, with cross-validation.

    Candidates are evaluated in rounds; each round learns from those before.

    Args:
        estimator: What to tune.
        param_distributions: For each parameter a list of choices, a dimension of wimble (`wimble.real(…)`), or a distribution
            of scipy.stats, whose quantiles are searched.
        n_iter: How many candidates.
        n_points: How many candidates a round has. Default: as many as keep `n_jobs` busy.
        method: As listed by `wimble.methods()`.
        random_state: The seed.
        scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score: As in scikit-learn. With
            several metrics, that of `refit` is searched for; the first, where `refit` names none. A candidate whose fit
            fails counts as failed, if `error_score` is a number; a round in which all fits fail is in `study_` only.

    `cv_results_`, `best_params_` and the rest are those of scikit-learn; `study_` is the study in memory, which a pickled search
    leaves behind.
    """

    _required_parameters = ["estimator", "param_distributions"]
    _parameter_constraints: dict[str, Any] = {
        **BaseSearchCV._parameter_constraints,
        "param_distributions": [dict],
        "n_iter": [numbers.Integral],
        "n_points": [numbers.Integral, None],
        "method": [str],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any],
        *,
        n_iter: int = 50,
        n_points: int | None = None,
        method: str = "auto",
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = numpy.nan,
        return_train_score: bool = False,
    ) -> None:
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.n_points = n_points
        self.method = method
        self.random_state = random_state
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _run_search(self, evaluate_candidates: Any) -> None:
        if self.n_iter < 1:
            raise ValueError(f"n_iter is {self.n_iter}, but must be positive")
        space, decoders = _space(self.param_distributions)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        study = Study("search", space, direction="maximize", method=self.method, seed=seed)
        self.study_ = study
        size = self.n_points or max(1, math.ceil(effective_n_jobs(self.n_jobs) / self.n_splits_))
        left = self.n_iter if study.limit is None else min(self.n_iter, study.limit)
        while left > 0:
            trials = study.ask(min(size, left))
            left -= len(trials)
            decoded = [
                {name: decoders[name](value) if name in decoders else value for name, value in trial.params.items()}
                for trial in trials
            ]
            try:
                results = evaluate_candidates(decoded)
            except ValueError as error:
                # scikit-learn gives up where all fits of a round fail; the next round may do better.
                if self.error_score == "raise" or "fits failed" not in str(error) or left == 0 and study.best is None:
                    raise
                for trial in trials:
                    study.tell(trial, FAILED("all its fits failed"))
                continue
            scores = results[f"mean_test_{self._metric(results)}"][-len(trials) :]
            for trial, score in zip(trials, scores):
                study.tell(trial, float(score) if numpy.isfinite(score) else FAILED(f"its score is {score}"))

    def __getstate__(self) -> Any:
        # A study in memory belongs to its process; `cv_results_` has what came of it.
        state = dict(super().__getstate__())
        state.pop("study_", None)
        return state

    def _metric(self, results: Mapping[str, Any]) -> str:
        """The metric to search for."""
        if isinstance(self.refit, str):
            return self.refit
        if "mean_test_score" in results:
            return "score"
        return next(name for name in results if name.startswith("mean_test_"))[len("mean_test_") :]


def _space(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A space of wimble, and what turns its values into those of parameters."""
    space: dict[str, Any] = {}
    decoders: dict[str, Any] = {}
    for name, entry in given.items():
        if isinstance(entry, (Real, Integer, Boolean, Categorical, Ordinal)):
            space[name] = entry
        elif hasattr(entry, "ppf"):
            space[name], decoder = _distribution(entry)
            if decoder is not None:
                decoders[name] = decoder
        elif hasattr(entry, "rvs"):
            raise TypeError(
                f"{name} is {entry!r}, which can be drawn from but has no quantiles (`ppf`); "
                "give a distribution of scipy.stats, a dimension of wimble, or a list"
            )
        elif isinstance(entry, str) or not hasattr(entry, "__iter__"):
            raise TypeError(
                f"{name} is {entry!r}, but must be a list, a dimension of wimble, or a distribution of scipy.stats"
            )
        else:
            choices = list(entry)
            if not choices:
                raise ValueError(f"{name} has no choices")
            if len(choices) > 1 and all(isinstance(choice, _NAMED) for choice in choices):
                space[name] = Categorical(tuple(choices))
            else:
                # Estimators, arrays and the like are known by their places.
                space[name] = Categorical(tuple(range(len(choices)))) if len(choices) > 1 else 0
                decoders[name] = choices.__getitem__
    return space, decoders


def _distribution(entry: Any) -> tuple[Any, Any]:
    """A distribution of scipy.stats as a dimension; what is neither uniform nor log-uniform, by its quantiles."""
    kind = getattr(getattr(entry, "dist", None), "name", "")
    low, high = (float(bound) for bound in entry.support())
    if kind == "uniform":
        return Real(low, high), None
    if kind in ("loguniform", "reciprocal"):
        return Real(low, high, log=True), None
    if kind == "randint":
        return (Integer(int(low), int(high)), None) if low < high else (int(low), None)
    if hasattr(entry, "pmf"):
        return _quantiles(low, high), lambda u: int(max(entry.ppf(u), low))
    return _quantiles(low, high), lambda u: float(entry.ppf(u))


def _quantiles(low: float, high: float) -> Real:
    return Real(0.0 if math.isfinite(low) else _TAIL, 1.0 if math.isfinite(high) else 1.0 - _TAIL)
