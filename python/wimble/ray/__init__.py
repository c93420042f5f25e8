"""Ray: a study file on a cluster, an executor for `wimble.minimize`, and a search algorithm and a scheduler for Tune.

A study whose command evaluates a configuration, anywhere in a cluster:

    result = wimble.ray.run("study.toml", storage="postgresql://…", num_gpus=1)

A Python function:

    wimble.minimize(train, space, trials=100, workers=16, executor=wimble.ray.executor(num_gpus=1))

With Tune:

    from ray import tune
    from wimble.ray import WimbleScheduler, WimbleSearch

    tuner = tune.Tuner(
        train,
        param_space={"lr": tune.loguniform(1e-5, 1e-1), "model": {"layers": tune.randint(1, 9)}},
        tune_config=tune.TuneConfig(search_alg=WimbleSearch(seed=0), metric="loss", mode="min", num_samples=100),
    )
    tuner.fit()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wimble.ray._executor import executor
from wimble.ray._run import run

if TYPE_CHECKING:
    from wimble.ray._scheduler import WimbleScheduler
    from wimble.ray._search import WimbleSearch


def __getattr__(name: str) -> Any:
    # Tune is a part of Ray that need not be installed, and takes a second to import.
    if name == "WimbleSearch":
        from wimble.ray._search import WimbleSearch

        return WimbleSearch
    if name == "WimbleScheduler":
        from wimble.ray._scheduler import WimbleScheduler

        return WimbleScheduler
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["WimbleScheduler", "WimbleSearch", "executor", "run"]
