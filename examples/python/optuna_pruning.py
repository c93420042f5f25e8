"""How do I stop hopeless trials of an Optuna study, and let the sampler learn from them?"""

import optuna

from wimble.optuna import WimblePruner, WimbleSampler

optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    rate = trial.suggest_float("rate", 1e-4, 1, log=True)
    loss = 1.0
    for epoch in range(27):
        loss = 0.9 * loss + 0.1 * abs(rate - 0.03)  # an epoch of training
        trial.report(loss, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return loss


study = optuna.create_study(sampler=WimbleSampler(seed=0), pruner=WimblePruner("halving", max_resource=27))
study.optimize(objective, n_trials=40)
pruned = sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
print(study.best_params, study.best_value, f"{pruned} of {len(study.trials)} trials pruned")
