import optuna
import optunahub

sampler = optunahub.load_module("samplers/wimble").WimbleSampler(seed=0)
study = optuna.create_study(sampler=sampler)
study.optimize(lambda trial: trial.suggest_float("x", -5, 5) ** 2, n_trials=30)
print(study.best_value)
