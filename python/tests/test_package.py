"""The package as a whole: its types, its size, and what it imports."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

import wimble

HERE = pathlib.Path(wimble.__file__).parent


def test_importing_is_quick_and_pulls_in_nothing(python):
    out = python(
        "import sys, time\nbefore = time.perf_counter()\nimport wimble\nprint(time.perf_counter() - before)\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('numpy', 'pandas', 'optuna', 'ray', 'sklearn')))"
    ).stdout.splitlines()
    assert out[1] == "[]"
    # 50 ms where nothing else runs; the tests run beside others.
    assert float(out[0]) < 0.5


def test_modules_for_other_libraries_are_imported_when_they_are_used(python):
    pytest.importorskip("matplotlib")
    out = python(
        "import sys, wimble\nassert 'wimble.plot' not in sys.modules\nprint(wimble.plot.history.__module__)\n"
        "try:\n    wimble.minimze\nexcept AttributeError as error:\n    print(error)"
    ).stdout.splitlines()
    assert out == ["wimble.plot", "module 'wimble' has no attribute 'minimze'"]


def test_the_stub_says_what_the_extension_has():
    import ast

    from wimble import _wimble

    tree = ast.parse((HERE / "_wimble.pyi").read_text())
    said = {n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    assert said == {name for name in dir(_wimble) if not name.startswith("__")}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = {n.name for n in node.body if isinstance(n, ast.FunctionDef)} - {"__new__"}
            assert methods == {name for name in dir(getattr(_wimble, node.name)) if not name.startswith("__")}


#: What a user's program may rely on.
USER = """
from __future__ import annotations
import wimble

def f(x: float) -> float:
    return x

result = wimble.minimize(f, {"x": wimble.real(0, 1, step=0.5, prior=0.5)})
value: float | None = result.value
study = wimble.Study("s", {"x": wimble.real(0, 1)}, fixed={"x": 0.5}, storage="s.db", token=None)
trials: list[wimble.Trial] = study.ask(3, fix={"x": 0.25})
study.tell(trials[0], 1.0)
study.tell(trials[1], wimble.FAILED)
study.tell(trials[2], {"value": 1.0})
copy: wimble.Study = study.copy("other.db", name="other")
opened: wimble.Study = wimble.Study.from_file("study.toml")
points: list[wimble.Forecast] | None = study.predict([{"x": 0.5}])
share: wimble.Share = study.importance()["x"]

async def work() -> None:
    for trial in await study.ask_async(2):
        await study.tell_async(trial, 0.5)

def objective(trial: wimble.Trial) -> float:
    trial.report(1, 0.5)
    return float(trial["x"]) if not trial.should_stop else 1.0

study.optimize(objective, 10, workers=2, callbacks=[lambda study, trial: print(study.name, trial.number)])
"""


def test_types_are_complete(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    assert (HERE / "py.typed").exists()
    (tmp_path / "user.py").write_text(USER)
    source = pathlib.Path(__file__).parents[1]
    modules = ["wimble", *(f"wimble.{path.stem}" for path in (source / "wimble").glob("_[a-z]*.py")), "user"]
    for library in ("optuna", "ray"):
        if importlib.util.find_spec(library) is not None:
            files = (source / "wimble" / library).glob("_[a-z]*.py")
            modules += [f"wimble.{library}", *(f"wimble.{library}.{path.stem}" for path in files)]
    if importlib.util.find_spec("matplotlib") is not None:
        modules.append("wimble.plot")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", str(tmp_path / "cache")]
        + [word for module in modules for word in ("-m", module)],
        env={**os.environ, "MYPYPATH": f"{source}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout


def test_pyright_accepts_the_types_in_strict_mode(tmp_path):
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed")
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "_wimble.pyi").write_text((HERE / "_wimble.pyi").read_text())
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.10", "include": ["user.py", "_wimble.pyi"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    check = [sys.executable, "-m", "basedpyright"]
    python = ["--pythonpath", sys.executable]
    done = subprocess.run([*check, *python], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
