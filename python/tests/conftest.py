"""What the tests share."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def python(tmp_path):
    """Runs Python text in a process of its own, and returns what it printed."""

    def run(text, *arguments, timeout=60, check=True):
        file = tmp_path / "script.py"
        file.write_text(text)
        done = subprocess.run(
            [sys.executable, str(file), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=tmp_path,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done

    return run


@pytest.fixture
def wimble_command():
    """The command `wimble` that came with the package."""
    beside = Path(sys.executable).with_name("wimble")
    found = str(beside) if beside.exists() else shutil.which("wimble")
    assert found, "the wheel has no command `wimble`"
    return found


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def storage(request, tmp_path):
    """A storage of each kind; a database of PostgreSQL if the environment names one."""
    if request.param == "memory":
        return None
    if request.param == "sqlite":
        return str(tmp_path / "studies.db")
    address = os.environ.get("WIMBLE_TEST_POSTGRES")
    if not address:
        pytest.skip("no PostgreSQL: WIMBLE_TEST_POSTGRES is not set")
    return address


@pytest.fixture
def name(request):
    """A name for a study that no other test has."""
    return f"{request.node.name}-{os.getpid()}"


@pytest.fixture(scope="module")
def cluster():
    """A cluster of Ray on this machine, with one node of two processors."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    ray.init(address=cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()
