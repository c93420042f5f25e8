"""The Python in README and guide runs: the blocks of a page one after the other, as a reader would."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
STUDY = """
name = "documents"
command = ["sh", "-c", "echo 0.5"]
trials = 3
[space]
x = { type = "real", low = 0, high = 1 }
"""


@pytest.mark.parametrize("page", ["README.md", "docs/guide/python.md"])
def test_the_blocks_of_a_page_run(page, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    if importlib.util.find_spec("ray") is None:
        blocks = [block for block in blocks if "wimble.ray" not in block]
    (tmp_path / "study.toml").write_text(STUDY)
    begin = 'import os\nos.environ["RAY_ADDRESS"] = "local"\n' if any("ray" in block for block in blocks) else ""
    (tmp_path / "page.py").write_text(begin + "\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "page.py"], capture_output=True, text=True, cwd=tmp_path, timeout=300, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr[-3000:]
