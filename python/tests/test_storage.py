"""Copies, servers and their tokens."""

import os
import pickle
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

import wimble
from wimble import _storage

SPACE = {"x": wimble.real(0, 1), "kind": [max, min]}


def study_with(count, storage=None, name="original"):
    study = wimble.Study(name, SPACE, storage=storage, method="random", seed=0)
    for trial in study.ask(count):
        study.tell(trial, trial["x"], attributes={"note": trial.number})
    return study


def test_a_study_is_copied_and_the_copy_brought_up_to_date(tmp_path):
    study = study_with(5)
    copy = study.copy(tmp_path / "s.db")
    assert copy.trials() == study.trials() and copy.storage == str(tmp_path / "s.db")
    assert copy.best["kind"] in (max, min)
    (running,) = study.ask()
    again = study.copy(tmp_path / "s.db")
    assert (again.counts["complete"], again.counts["queued"]) == (5, 1)
    study.tell(running, 0.5)
    assert study.copy(tmp_path / "s.db").counts["complete"] == 6
    # A study of the file, like any other.
    assert wimble.Study("original", storage=tmp_path / "s.db").counts["complete"] == 6
    other = study.copy(name="other")
    assert other.storage is None and other.name == "other" and len(other.ask(2)) == 2
    with pytest.raises(wimble.Error, match="this is the study itself"):
        study.copy()


class Listener(BaseHTTPRequestHandler):
    """Refuses everything, and notes the tokens that it was sent."""

    def answer(self):
        self.server.seen.append(self.headers.get("Authorization"))
        self.send_response(401)
        self.end_headers()

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


@pytest.fixture
def listener():
    server = HTTPServer(("127.0.0.1", 0), Listener)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_token_goes_only_where_it_belongs(listener, monkeypatch):
    address = f"http://127.0.0.1:{listener.server_port}"
    monkeypatch.setenv("WIMBLE_TOKEN", "s3cret")
    # To the server that the user named for a study, as on the command line.
    with pytest.raises(wimble.Error) as refused:
        wimble.Study("s", SPACE, storage=address)
    assert any("s3cret" in (seen or "") for seen in listener.seen)
    assert "s3cret" not in str(refused.value) and "s3cret" not in repr(refused.value.facts)
    listener.seen.clear()
    # One that is given is sent, and not that of the environment.
    with pytest.raises(wimble.Error):
        wimble.Study("s", SPACE, storage=address, token="other")
    assert listener.seen and all("other" in seen and "s3cret" not in seen for seen in listener.seen)
    listener.seen.clear()
    # Not to the target of a copy.
    with pytest.raises(wimble.Error):
        study_with(1).copy(address)
    assert listener.seen and not any("s3cret" in (seen or "") for seen in listener.seen)
    for storage, token, words in [("s.db", "t", "only a server"), ("http://:t@h:1", "t", "give it once")]:
        with pytest.raises(wimble.InvalidError, match=words):
            wimble.Study("s", SPACE, storage=storage, token=token)


def test_a_study_that_is_pickled_keeps_what_is_fixed_and_a_copy_no_token(tmp_path, monkeypatch):
    study = wimble.Study("s", SPACE, storage=tmp_path / "s.db", method="random", seed=0, fixed={"kind": min})
    again = pickle.loads(pickle.dumps(study))
    assert [trial.params["kind"] for trial in again.ask(3)] == [min] * 3
    monkeypatch.setenv("WIMBLE_TOKEN", "s3cret")
    held = wimble.Study.__new__(wimble.Study)._hold(study._inner, "http://127.0.0.1:1", "")
    opened = held.__reduce__()[1]
    assert "s3cret" not in (_storage.address(opened[3], opened[4]) or "")


def test_a_study_behind_a_server(tmp_path, wimble_command, monkeypatch):
    monkeypatch.delenv("WIMBLE_TOKEN", raising=False)
    study_with(2, tmp_path / "s.db", "served")
    server = subprocess.Popen(
        [wimble_command, "serve", "--port", "0", "--workers", "--storage", str(tmp_path / "s.db")],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"},
    )
    try:
        text = ""
        while "--storage" not in text:
            line = server.stdout.readline()
            assert line, f"the server ended: {text}"
            text += line
        token = re.search(r"WIMBLE_TOKEN=(\S+)", text).group(1)
        address = re.search(r"--storage (\S+)", text).group(1)
        study = wimble.Study("served", storage=address, token=token)
        (trial,) = study.ask()
        study.tell(trial, 0.25)
        assert study.counts["complete"] == 3 and token not in repr(study)
        copied = pickle.loads(pickle.dumps(study))
        assert copied.counts["complete"] == 3
        with pytest.raises(wimble.Error):
            wimble.Study("served", storage=address, token="wrong").ask()
    finally:
        server.terminate()
        server.wait(10)
