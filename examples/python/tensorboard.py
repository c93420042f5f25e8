"""How do I log trials elsewhere, such as to TensorBoard? With a callback."""

import sys

from tensorboardX import SummaryWriter

import wimble

folder = sys.argv[1] if len(sys.argv) > 1 else "runs"
writer = SummaryWriter(folder)


def log(study, trial):
    """Called after each trial."""
    if trial.value is not None:
        writer.add_scalar("value", trial.value, trial.number)
        writer.add_scalar("best", study.best.value, trial.number)
    if study.best is not None and study.best.value < 1e-6:
        study.stop()


study = wimble.Study("logged", {"x": wimble.real(-5, 5), "y": wimble.real(-5, 5)}, seed=0)
study.optimize(lambda trial: trial["x"] ** 2 + (trial["y"] - 1) ** 2, trials=60, callbacks=[log])
writer.close()
print(study)
