"""How do I use wimble in the Optuna study that I have? Change one line."""

import optuna

from wimble.optuna import WimbleSampler

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 8)
    if trial.suggest_categorical("optimizer", ["adam", "sgd"]) == "sgd":
        rate *= 1 + trial.suggest_float("momentum", 0, 0.99)
    return abs(layers - 3) + (rate - 0.01) ** 2


study = optuna.create_study(sampler=WimbleSampler(seed=0))  # this line
study.optimize(objective, n_trials=50)
print(study.best_value, study.best_params)
