"""How do I run trials on a Ray cluster: with Tune, and without?"""

import ray
from ray import tune

import wimble
from wimble.ray import WimbleSearch, executor


def train(config):
    tune.report({"loss": (config["lr"] - 0.01) ** 2 + abs(config["layers"] - 3)})


def loss(lr, layers):
    return (lr - 0.01) ** 2 + abs(layers - 3)


if __name__ == "__main__":
    ray.init(address="local", num_cpus=2, include_dashboard=False)  # on a cluster: ray.init()
    tuner = tune.Tuner(
        train,
        param_space={"lr": tune.loguniform(1e-4, 1.0), "layers": tune.randint(1, 9)},
        tune_config=tune.TuneConfig(search_alg=WimbleSearch(seed=0), metric="loss", mode="min", num_samples=16),
        run_config=tune.RunConfig(verbose=0),
    )
    print("with Tune:", tuner.fit().get_best_result().config)

    space = {"lr": wimble.real(1e-4, 1.0, log=True), "layers": wimble.integer(1, 8)}
    result = wimble.minimize(loss, space, trials=20, workers=2, executor=executor(num_cpus=1), seed=0)
    print("without:", result.params)
