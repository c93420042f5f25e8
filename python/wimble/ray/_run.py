"""A study file on a cluster: each Ray task is a worker of the study, which evaluates one trial after the other.

A worker is what `wimble run --workers 1` is on a machine: it holds leases, sends heartbeats, retries, stores steps and stops
trials by the study's rule. The storage knows everything; a driver, a worker or a node that is lost loses no result.
"""

# mypy: disable-error-code="no-untyped-call"
# Ray has types for a part of it.

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError, RuntimeEnvSetupError

from wimble import _evaluation, _storage, _wimble
from wimble._errors import CommandError, Error, InvalidError, StorageError
from wimble._minimize import Result
from wimble._study import Study

_log = logging.getLogger("wimble.ray")

#: Seconds between looks at the study and at the cluster.
_LOOK = 1.0
#: Seconds that workers have to give their trials back, once they are told to stop.
_GRACE = 20.0
#: How many workers may be lost in a row, beside one for each that runs, before the run gives up.
_LOST = 5


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
        progress: Show a bar, if tqdm is installed.
        options: Further options of Ray's tasks: `resources`, `runtime_env`, `scheduling_strategy` and so on.

    Raises:
        CommandError: The command cannot be run, or the first trials all failed.
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
    fleet = _Fleet(needs, workers)
    inner = _wimble.Study.of_file(described, address, trials, workers or max(1, fleet.room()))
    study = Study.__new__(Study)._hold(inner, place, token)
    home = os.path.dirname(path) if folder is None else os.fspath(folder)
    task: Any = ray.remote(_work).options(
        num_cpus=num_cpus, num_gpus=num_gpus, resources=resources, max_retries=0, **options
    )
    # By the clock on the wall: a task may wait long for room, and begins on another machine.
    end = None if described.time is None else time.time() + described.time
    given = {
        "name": os.fspath(file),
        "text": text,
        "storage": address,
        "home": home,
        "patience": float(patience),
        "spend": trials is None,
        "end": end,
    }

    def begin() -> Any:
        return task.remote(**given)

    began = time.monotonic()
    done = _finished(study)
    with _evaluation.bar(progress, study.limit, done) as advance:

        left = 1

        def look() -> int:
            """How many trials are left to finish; as many as before while the storage is away: workers have patience."""
            nonlocal done, left
            try:
                now, budget = _finished(study), study.limit
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


def _finished(study: Study) -> int:
    counts = study.counts
    return counts["complete"] + counts["failed"] + counts["infeasible"]


def _work(name: str, text: str, storage: str, home: str, end: float | None, **how: Any) -> dict[str, Any]:
    """A worker: runs in a process of Ray, on any node, until `end` at most."""
    if not os.path.isdir(home):
        raise InvalidError(
            f"node {ray.util.get_node_ip_address()} has no folder {home}, where the commands start: put it on a file system "
            'that all nodes have, or give folder="." and runtime_env={"working_dir": …}',
            {"field": "folder", "value": home},
        )
    left = None if end is None else max(0.0, end - time.time())
    return _wimble.StudyFile(name, text).work(storage, os.path.abspath(home), time=left, **how)


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


class _Fleet:
    """The workers that run, as many as are wanted and there is room for."""

    def __init__(self, needs: dict[str, float], workers: int | None) -> None:
        self.needs = {name: amount for name, amount in needs.items() if amount > 0}
        self.workers = workers
        if workers is None and not self.needs.keys() - {name for name in needs if name.startswith("node:")}:
            raise InvalidError(
                "num_cpus and num_gpus are 0, so that nothing limits how many commands run: give workers",
                {"field": "workers"},
            )
        #: How many workers were lost since a trial was last finished.
        self.lost = 0
        self.running: list[Any] = []

    def room(self) -> int:
        """How many workers the nodes have room for, if nothing else runs there."""
        count = 0.0
        for node in ray.nodes():
            if node["Alive"]:
                there = node["Resources"]
                count += math.floor(min(there.get(name, 0.0) / need + 1e-9 for name, need in self.needs.items()))
        return int(count)

    def run(self, begin: Callable[[], Any], look: Callable[[], int], is_busy: Callable[[], bool]) -> dict[str, Any]:
        """Keeps workers running until one says that the study is over. Returns what it says."""
        reports: list[dict[str, Any]] = []
        try:
            while not reports:
                left = look()
                # Where nothing has room yet, one waits for a node: Ray may be about to start it.
                wanted = min(self.workers or max(1, self.room()), max(1, left))
                while len(self.running) < wanted:
                    self.running.append(begin())
                reports += self.wait(_LOOK, 1)
            if reports[0]["end"] in ("budget-spent", "time-over"):
                # The others finish what they run, and find out by themselves; those that found no room are not needed.
                while self.running and is_busy():
                    reports += self.wait(_LOOK, len(self.running))
                reports += self.wait(3 * _LOOK, len(self.running))
        finally:
            self.stop()
        return {**reports[0], **{what: sum(report[what] for report in reports) for what in ("told", "released", "kept")}}

    def wait(self, seconds: float, count: int) -> list[dict[str, Any]]:
        """What workers say that end within so many seconds, or the first `count` of them."""
        if not self.running:
            return []
        ready, self.running = ray.wait(self.running, num_returns=max(1, count), timeout=seconds)
        return [report for task in ready if (report := self.ended(task)) is not None]

    def ended(self, task: Any) -> dict[str, Any] | None:
        """What a worker says at its end; None if it was lost."""
        try:
            report: dict[str, Any] = ray.get(task)
            return report
        except RuntimeEnvSetupError:
            raise
        except RayError as error:
            # A worker that met an error is not asked for again; one that found no storage, or whose process or node is gone, is.
            if isinstance(error, RayTaskError) and not isinstance(error.cause, StorageError):
                raise error.as_instanceof_cause() from None
            self.lost += 1
            if self.lost > _LOST + len(self.running):
                raise Error(
                    f"{self.lost} workers were lost and no trial finished meanwhile, so that the run ended: {error}"
                ) from error
            _log.warning("a worker was lost, and its trial goes to another: %s", str(error).strip().splitlines()[0])
            return None

    def stop(self) -> None:
        """Ends the workers that run. Their trials go back to the queue."""
        for task in self.running:
            ray.cancel(task)
        try:
            if self.running:
                _, self.running = ray.wait(self.running, num_returns=len(self.running), timeout=_GRACE)
        finally:
            # Also after a second Ctrl-C.
            for task in self.running:
                ray.cancel(task, force=True)
            self.running = []
