"""The package as a whole: its types, its size, and what it imports."""

import importlib.util
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


def test_types_are_complete(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    assert (HERE / "py.typed").exists()
    user = tmp_path / "user.py"
    user.write_text(
        "import wimble\n"
        "def f(x: float) -> float:\n    return x\n"
        "result = wimble.minimize(f, {'x': wimble.real(0, 1)})\n"
        "value: float | None = result.value\n"
        "study = wimble.Study('s', {'x': wimble.real(0, 1)})\n"
        "trials: list[wimble.Trial] = study.ask(3)\n"
        "study.tell(trials[0], 1.0)\n"
        "study.tell(trials[1], wimble.FAILED)\n"
        "study.tell(trials[2], {'value': 1.0})\n"
    )
    source = pathlib.Path(__file__).parents[1]
    modules = ["wimble", *(f"wimble.{path.stem}" for path in (source / "wimble").glob("_[a-z]*.py")), "user"]
    if importlib.util.find_spec("optuna") is not None:
        modules.append("wimble.optuna")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir", str(tmp_path / "cache")]
        + [word for module in modules for word in ("-m", module)],
        env={**os.environ, "MYPYPATH": f"{source}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
