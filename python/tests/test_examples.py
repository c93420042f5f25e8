"""The examples run, and are short."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "python"
NEEDS = {
    "sklearn_model": "sklearn",
    "optuna_study": "optuna",
    "optuna_pruning": "optuna",
    "ray_cluster": "ray",
    "ray_study": "ray",
    "tensorboard": "tensorboardX",
    "mlflow_runs": "mlflow",
}


@pytest.mark.parametrize("example", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_an_example_runs(example, tmp_path):
    needed = NEEDS.get(example)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    file = FOLDER / f"{example}.py"
    assert len(file.read_text().splitlines()) < 60 and file.read_text().startswith('"""How do')
    storage = [str(tmp_path / "study.db")] if example in ("ask_and_tell", "async_workers", "tensorboard") else []
    if example == "mlflow_runs":
        storage = [f"sqlite:///{tmp_path / 'mlflow.db'}"]
    if example == "async_workers":
        storage = [os.environ.get("WIMBLE_TEST_POSTGRES", storage[0])]
    done = subprocess.run(
        [sys.executable, str(file), *storage], capture_output=True, text=True, cwd=tmp_path, timeout=300,
        env={**os.environ, "RAY_AIR_NEW_OUTPUT": "0"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip()
