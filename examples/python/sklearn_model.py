"""How do I tune a scikit-learn pipeline? As with RandomizedSearchCV."""

from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import wimble
from wimble.sklearn import WimbleSearchCV

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
space = {
    "svc__C": loguniform(1e-3, 1e3),
    "svc__kernel": ["rbf", "poly"],
    "svc__degree": wimble.integer(2, 5, when={"svc__kernel": "poly"}),
}
search = WimbleSearchCV(make_pipeline(StandardScaler(), SVC()), space, n_iter=20, cv=3, random_state=0)
search.fit(X_train, y_train)
print(search.best_params_)
print(f"cross-validated {search.best_score_:.3f}, on unseen data {search.score(X_test, y_test):.3f}")
