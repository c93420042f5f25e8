"""Optuna: a sampler and a pruner. One line changes in a study that you have.

    import optuna
    from wimble.optuna import WimblePruner, WimbleSampler

    study = optuna.create_study(sampler=WimbleSampler(seed=0), pruner=WimblePruner())
    study.optimize(objective, n_trials=100)
"""

from wimble.optuna._pruner import WimblePruner
from wimble.optuna._sampler import WimbleSampler

__all__ = ["WimblePruner", "WimbleSampler"]
