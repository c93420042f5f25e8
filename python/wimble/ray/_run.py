"""A study file on a cluster: each Ray task is a worker of the study, which evaluates one trial after the other.

A worker is what `wimble run --workers 1` is on a machine: it holds leases, sends heartbeats, retries, stores steps and stops
trials by the study's rule. The storage knows everything; a driver, a worker or a node that is lost loses no result.
"""

# mypy: disable-error-code="no-untyped-call"
# Ray has types for a part of it.

from __future__ import annotations

import logging
import os
import time
from typing import Any

import ray

from wimble import _evaluation, _storage, _wimble
from wimble._errors import CommandError, InvalidError, StorageError
from wimble._minimize import Result
from wimble._study import Study
from wimble.ray._fleet import Fleet

_log = logging.getLogger("wimble.ray")


def run(
    file: str | os.PathLike[str] = "study.toml",
    *,
    storage: str | os.PathLike[str] | None = None,
    token: str | None = None,
    num_cpus: float = 1,
    num_gpus: float = 0,
    workers: int | None = None,
    trials: int | None = None,
    folder: str | os.PathLike[str] | None = None,
    patience: float = 3600.0,
    progress: bool = True,
    **options: Any,
) -> Result:
    """Runs a study file on a Ray cluster, and resumes where it stopped. Returns what came of it.

    Its command is run as Ray tasks wherever there is room, one trial a task at a time, with the study's leases, retries, steps
    and stopping. The same study may be run elsewhere at the same time. Ctrl-C gives the running trials back to the queue. If the
    driver is killed, Ray ends the tasks; the same call then goes on.

    Args:
        file: The study file.
        storage: Where the study is kept: an address that all nodes reach, `postgresql://…` or `http://…` (`wimble serve
            --workers`). A file of SQLite will do while the cluster is one machine. Default: WIMBLE_STORAGE, or wimble.db.
        token: The token of a server. Default: WIMBLE_TOKEN.
        num_cpus, num_gpus: What one command needs.
        workers: How many commands run at a time. Default: as many as the nodes of the cluster have room for; if nodes come and
            go, so do workers.
        trials: How many trials the study has; it may be raised later. Default: as in the file.
        folder: Where commands start. Default: the folder of the file, which every node must have; "." is that of the
            task, into which Ray copies what `runtime_env={"working_dir": …}` names.
        patience: Seconds for which workers keep trying when the storage becomes unreachable.
        progress: Show a bar: that of tqdm if it is installed, otherwise a line in the terminal.
        options: Further options of Ray's tasks: `resources`, `runtime_env`, `scheduling_strategy` and so on.

    Raises:
        CommandError: The command cannot be run, or a worker's first trials all failed, on every node. Where it works on some
            nodes, the run goes on there, and a warning of the logger `wimble.ray` names the others.
    """
    if "max_retries" in options:
        raise InvalidError(
            "max_retries is the study's: `lost-retries` in the study file says how often a trial may lose its worker",
            {"field": "max_retries"},
        )
    if workers is not None and workers < 1:
        raise InvalidError(f"workers is {workers}, but must be positive", {"field": "workers", "value": workers})
    path = os.path.abspath(file)
    with open(path, encoding="utf-8") as opened:
        text = opened.read()
    described = _wimble.StudyFile(os.fspath(file), text)
    if not described.has_command:
        raise InvalidError(
            f"{os.fspath(file)}: `command` is missing: the program that evaluates a configuration", {"field": "command"}
        )
    if not ray.is_initialized():
        ray.init()
    place, address, pinned = _reachable(storage, token)
    resources = {**options.pop("resources", {}), **pinned}
    needs = {"CPU": num_cpus, "GPU": num_gpus, "memory": options.get("memory", 0), **resources}
    fleet = Fleet(needs, workers, options, described.grace)
    inner = _wimble.Study.of_file(described, address, trials, workers or max(1, fleet.room()))
    study = Study.__new__(Study)._hold(inner, place, token)
    home = os.path.dirname(path) if folder is None else os.fspath(folder)
    task: Any = ray.remote(_work)
    options = {**options, "num_cpus": num_cpus, "num_gpus": num_gpus, "resources": resources, "max_retries": 0}
    # The address may hold a token or a password. Ray shows the arguments of tasks to whoever sees its dashboard; what an object
    # of its store holds, it does not.
    secret = ray.put(address)
    # By the clock on the wall: a task may wait long for room, and begins on another machine.
    end = None if described.time is None else time.time() + described.time
    given = {
        "name": os.fspath(file),
        "text": text,
        "storage": secret,
        "home": home,
        "patience": float(patience),
        "spend": trials is None,
        "end": end,
    }

    def begin(elsewhere: dict[str, Any]) -> Any:
        return task.options(**{**options, **elsewhere}).remote(**given)

    began = time.monotonic()
    done = _evaluation.finished(study)
    with _evaluation.bar(progress, study.limit, done) as advance:

        left = 1

        def look() -> int:
            """How many trials are left to finish; as many as before while the storage is away: workers have patience."""
            nonlocal done, left
            try:
                now, budget = _evaluation.finished(study), study.limit
            except StorageError as error:
                _log.warning("the storage cannot be read: %s", error)
                return left
            if now > done:
                advance(study, now - done)
                fleet.lost = 0
                done = now
            # Others may have raised it.
            left = 1 << 30 if budget is None else budget - done
            return left

        def is_busy() -> bool:
            try:
                return study.counts["running"] > 0
            except StorageError:
                return True

        report = fleet.run(begin, look, is_busy)
        look()
    if report["kept"]:
        _log.warning("%d results could not be stored; the next run on the same machines stores them", report["kept"])
    if report["end"] == "storage-gone":
        raise StorageError(f"the storage was unreachable for too long: {report['reason']}")
    if report["end"] == "no-folder":
        raise InvalidError(report["reason"], {"field": "folder", "value": home})
    told = {**report, "seconds": time.monotonic() - began, "counts": study.counts}
    failure = described.end(address, os.path.dirname(path), told)
    if failure is not None:
        _log.warning("the command of `on.end` failed: %s", failure)
    if report["end"] == "command-broken":
        raise CommandError(
            f"the study's command does not work: {report['reason']}\n{report['output']}".rstrip(),
            {"reason": report["reason"], "output": report["output"]},
        )
    return Result(study)


def _work(name: str, text: str, storage: str, home: str, end: float | None, **how: Any) -> dict[str, Any]:
    """A worker: runs in a process of Ray, on any node, until `end` at most. Says how it ended, and where it was."""
    node, address = ray.get_runtime_context().get_node_id(), ray.util.get_node_ip_address()
    if os.path.isdir(home):
        left = None if end is None else max(0.0, end - time.time())
        report = _wimble.StudyFile(name, text).work(storage, os.path.abspath(home), time=left, **how)
    else:
        reason = (
            f"node {address} has no folder {home}, where the commands start: put it on a file system "
            'that all nodes have, or give folder="." and runtime_env={"working_dir": …}'
        )
        report = {"end": "no-folder", "reason": reason, "output": "", "told": 0, "released": 0, "kept": 0}
    return {**report, "node": node, "address": address}


def _reachable(storage: str | os.PathLike[str] | None, token: str | None) -> tuple[str, str, dict[str, float]]:
    """The storage as it was named, its address for every node, and what keeps the tasks where it can be reached."""
    place = os.fspath(storage) if storage is not None else os.environ.get("WIMBLE_STORAGE") or "wimble.db"
    if place == "memory:":
        raise InvalidError(
            "the storage is memory:, which the workers cannot reach: give a file, postgresql://… or http://…",
            {"field": "storage", "value": place},
        )
    if "://" in place and not place.startswith("sqlite:"):
        address = _storage.address(place, token)
        assert address is not None
        return place, address, {}
    _storage.address(place, token)
    path = os.path.abspath(place.removeprefix("sqlite:").removeprefix("//"))
    nodes = [node for node in ray.nodes() if node["Alive"]]
    machines = {node["NodeManagerAddress"] for node in nodes}
    elsewhere = ray.util.client.ray.is_connected()
    if len(machines) > 1 or elsewhere:
        cluster = "the cluster is elsewhere" if elsewhere else f"the cluster is {len(machines)} machines"
        raise InvalidError(
            f"{place} is a file of this machine, and {cluster}: give a storage that all nodes "
            "reach, postgresql://user@host/database, or http://host:8765 with `wimble serve --workers` beside the file",
            {"field": "storage", "value": place},
        )
    # Nodes that join later are on other machines.
    return path, path, {f"node:{machine}": 0.001 for machine in machines}
