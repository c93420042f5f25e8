"""How do I run the commands of a study file on a Ray cluster?"""

import pathlib
import sys
import tempfile

import ray

import wimble.ray

FILE = f"""
name = "cluster"
command = ["{sys.executable}", "-c", "import sys; print((float(sys.argv[1]) - 0.3) ** 2)", "{{x}}"]
trials = 12

[space]
x = {{ type = "real", low = 0, high = 1 }}
"""

if __name__ == "__main__":
    ray.init(address="local", num_cpus=2, include_dashboard=False)  # on a cluster: ray.init()
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "study.toml").write_text(FILE)
    # On several machines, all of them must reach the storage: postgresql://… or http://… (`wimble serve --workers`).
    result = wimble.ray.run(folder / "study.toml", storage=folder / "wimble.db", num_cpus=1)
    print(result.params, result.value, result.message)
