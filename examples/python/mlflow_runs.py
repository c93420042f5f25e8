"""How do I log trials to MLflow? With a callback: one run for the study and, below it, one for each trial."""

import sys

import mlflow

import wimble

mlflow.set_tracking_uri(sys.argv[1] if len(sys.argv) > 1 else "sqlite:///mlflow.db")
mlflow.set_experiment("wimble")


def log(study, trial):
    """Called after each trial."""
    with mlflow.start_run(run_name=f"trial {trial.number}", nested=True):
        mlflow.log_params(trial.params)
        mlflow.log_metrics(trial.values)
        mlflow.set_tag("state", trial.state)
    if study.best is not None:
        mlflow.log_metric("best", study.best.value, step=trial.number)


space = {"x": wimble.real(-5, 5), "kind": ["a", "b"]}
with mlflow.start_run(run_name="study"):
    study = wimble.Study("logged", space, seed=0)
    study.optimize(lambda trial: trial["x"] ** 2 + (trial["kind"] == "a"), trials=20, callbacks=[log])
    mlflow.log_params({f"best_{name}": value for name, value in study.best.params.items()})
print(study)
