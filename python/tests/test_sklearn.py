"""The search estimator for scikit-learn."""

import pickle

import pytest

sklearn = pytest.importorskip("sklearn")
pytest.importorskip("scipy")

import numpy  # noqa: E402
from scipy import stats  # noqa: E402
from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.datasets import load_iris, make_classification  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

import wimble  # noqa: E402
from wimble.sklearn import WimbleSearchCV  # noqa: E402


@parametrize_with_checks(
    [
        WimbleSearchCV(LogisticRegression(), {"C": wimble.real(0.1, 1.0)}, n_iter=2, cv=2, random_state=0),
        WimbleSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_iter=2, cv=2, random_state=0, error_score="raise"),
    ],
    # scikit-learn expects the same of its own search estimators. Over a classifier, the check passes.
    expected_failed_checks=lambda search: (
        {} if is_classifier(search) else {"check_supervised_y_2d": "DataConversionWarning not caught"}
    ),
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_pipeline_is_tuned():
    X, y = load_iris(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), SVC())
    space = {
        "svc__C": stats.loguniform(1e-3, 1e3),
        "svc__kernel": ["rbf", "poly"],
        "svc__degree": wimble.integer(2, 5, when={"svc__kernel": "poly"}),
    }
    with pytest.raises(ValueError):
        WimbleSearchCV(pipeline, {"svc__nonsense": [1, 2]}, n_iter=2).fit(X, y)
    search = WimbleSearchCV(pipeline, space, n_iter=15, cv=3, random_state=0).fit(X, y)
    assert search.best_score_ > 0.95
    for params in search.cv_results_["params"]:
        assert ("svc__degree" in params) == (params["svc__kernel"] == "poly")
    assert len(search.cv_results_["params"]) == 15 and search.study_.counts["complete"] == 15
    assert search.best_score_ == max(t.value for t in search.study_.trials())
    assert search.score(X, y) > 0.95
    again = clone(search).fit(X, y)
    assert again.cv_results_["params"] == search.cv_results_["params"]
    assert pickle.loads(pickle.dumps(search)).best_params_ == search.best_params_


def test_distributions_of_scipy_are_searched_where_they_live():
    X, y = make_classification(60, random_state=0)
    seen = []

    class Remembering(DecisionTreeClassifier):
        def set_params(self, **params):
            seen.append(params)
            return super().set_params(**params)

    space = {
        "max_depth": stats.randint(1, 6),
        "min_weight_fraction_leaf": stats.uniform(0.1, 0.2),
        "ccp_alpha": stats.expon(scale=0.01),
        "max_leaf_nodes": stats.poisson(8, loc=2),
        "criterion": ["gini"],
        "max_features": [None, "sqrt", 3],
    }
    search = WimbleSearchCV(Remembering(), space, n_iter=12, cv=2, random_state=1, method="random", refit=False)
    search.fit(X, y)
    for params in search.cv_results_["params"]:
        assert params["max_depth"] in range(1, 6) and type(params["max_depth"]) is int
        assert 0.1 <= params["min_weight_fraction_leaf"] <= 0.3
        assert params["ccp_alpha"] >= 0 and numpy.isfinite(params["ccp_alpha"])
        assert type(params["max_leaf_nodes"]) is int and params["max_leaf_nodes"] >= 2
        assert params["criterion"] == "gini" and params["max_features"] in (None, "sqrt", 3)
    for bad, words in (({"max_depth": 3}, "must be a list"), ({"max_depth": []}, "no choices"), ({"C": "abc"}, "list")):
        with pytest.raises((TypeError, ValueError), match=words):
            WimbleSearchCV(DecisionTreeClassifier(), bad).fit(X, y)


def test_several_metrics_failures_and_jobs():
    X, y = make_classification(80, random_state=0)
    space = {"C": wimble.real(1e-3, 1e3, log=True)}
    search = WimbleSearchCV(
        LogisticRegression(), space, n_iter=8, cv=2, scoring=["accuracy", "roc_auc"], refit="roc_auc", n_jobs=2, random_state=0
    ).fit(X, y)
    assert search.best_score_ == search.cv_results_["mean_test_roc_auc"].max()
    assert [t.value for t in search.study_.trials()] == list(search.cv_results_["mean_test_roc_auc"])
    failing = WimbleSearchCV(
        LogisticRegression(), {"C": wimble.real(-1, 1)}, n_iter=10, cv=2, random_state=0, error_score=numpy.nan
    ).fit(X, y)
    assert failing.study_.counts["failed"] > 0 and failing.best_params_["C"] > 0
    with pytest.raises(ValueError, match="fits failed"):
        WimbleSearchCV(LogisticRegression(), {"C": wimble.real(-2, -1)}, n_iter=3, cv=2).fit(X, y)
    finite = WimbleSearchCV(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, n_iter=50, cv=2).fit(X, y)
    assert len(finite.cv_results_["params"]) == 3
