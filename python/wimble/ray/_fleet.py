"""The workers of a study on a cluster: as many as are wanted and there is room for, on the nodes where its command works."""

# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError, RuntimeEnvSetupError

from wimble._errors import Error, InvalidError, StorageError

_log = logging.getLogger("wimble.ray")

#: Seconds between looks at the study and at the cluster.
_LOOK = 1.0
#: Seconds that workers have to give their trials back, beside the time that their commands have to end.
_GRACE = 20.0
#: How many workers may be lost in a row, beside one for each that runs, before the run gives up.
_LOST = 5
#: Ends of a worker that say something of its node, and nothing of the study.
_UNFIT = ("command-broken", "no-folder")
#: The label of Ray that every node has.
_NODE = "ray.io/node-id"


class Fleet:
    """The workers that run.

    Args:
        needs: What one worker takes of a node's resources.
        workers: How many are wanted; None for as many as there is room for.
        options: The options of Ray's tasks that the user gave.
        grace: Seconds that a command has to end, once it is asked to.
    """

    def __init__(
        self, needs: Mapping[str, float], workers: int | None, options: Mapping[str, Any], grace: float
    ) -> None:
        self.needs = {name: amount for name, amount in needs.items() if amount > 0}
        self.workers, self.grace = workers, grace + _GRACE
        if workers is None and not self.needs.keys() - {name for name in needs if name.startswith("node:")}:
            raise InvalidError(
                "num_cpus and num_gpus are 0, so that nothing limits how many commands run: give workers",
                {"field": "workers"},
            )
        #: The user's choice of nodes by their labels; None where the user chose nodes in a way that leaves us no choice.
        self.labels: dict[str, str] | None = dict(options.get("label_selector") or {})
        if _NODE in self.labels or options.get("scheduling_strategy") not in (None, "DEFAULT", "SPREAD"):
            self.labels = None
        #: How many workers were lost since a trial was last finished.
        self.lost = 0
        self.running: list[Any] = []
        #: What the workers said that have ended.
        self.reports: list[dict[str, Any]] = []
        #: Nodes on which the command does not work, and what their workers said.
        self.unfit: dict[str, dict[str, Any]] = {}

    def room(self) -> int:
        """How many workers the nodes have room for, if nothing else runs there."""
        count = 0.0
        for node in ray.nodes():
            if node["Alive"] and node["NodeID"] not in self.unfit:
                there = node["Resources"]
                fits = (there.get(name, 0.0) / need + 1e-9 for name, need in self.needs.items())
                count += math.floor(min(fits, default=1.0))
        return int(count)

    def run(
        self, begin: Callable[[dict[str, Any]], Any], look: Callable[[], int], is_busy: Callable[[], bool]
    ) -> dict[str, Any]:
        """Keeps workers running until one says that the study is over. Returns what it says.

        `begin` starts one, with options of Ray's that keep it from nodes where the command does not work; `look` says how many
        trials are left, and `is_busy` whether any of them runs.
        """
        try:
            while (over := self.over()) is None:
                left = look()
                # Where nothing has room yet, one waits for a node: Ray may be about to start it.
                wanted = min(self.workers or max(1, self.room()), max(1, left))
                while len(self.running) < wanted:
                    self.running.append(begin(self.elsewhere()))
                self.wait(_LOOK, 1)
            if over["end"] in ("budget-spent", "time-over"):
                # The others finish what they run, and find out by themselves; those that found no room are not needed.
                while self.running and is_busy():
                    self.wait(_LOOK, len(self.running))
                self.wait(3 * _LOOK, len(self.running))
        finally:
            self.stop()
        sums = {what: sum(report[what] for report in self.reports) for what in ("told", "released", "kept")}
        return {**{what: over[what] for what in ("end", "reason", "output")}, **sums}

    def over(self) -> dict[str, Any] | None:
        """What ends the run: a worker that found the study over, or a command that works on no node that has room."""
        ends = (report for report in self.reports if report["end"] not in _UNFIT)
        if (end := next(ends, None)) is not None:
            return end
        return next(iter(self.unfit.values())) if self.unfit and (self.labels is None or self.room() == 0) else None

    def elsewhere(self) -> dict[str, Any]:
        """Options of Ray's tasks that keep them from the nodes where the command does not work."""
        if not self.unfit:
            return {}
        return {"label_selector": {**(self.labels or {}), _NODE: f"!in({','.join(self.unfit)})"}}

    def wait(self, seconds: float, count: int) -> None:
        """Takes in what workers say that end within so many seconds, or the first `count` of them."""
        if self.running:
            ready, self.running = ray.wait(self.running, num_returns=max(1, count), timeout=seconds)
            for task in ready:
                self.ended(task)

    def ended(self, task: Any) -> None:
        """Takes in what a worker says at its end, or that it was lost."""
        try:
            report: dict[str, Any] = ray.get(task)
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
            return
        self.reports.append(report)
        if report["end"] in _UNFIT and report["node"] not in self.unfit:
            self.unfit[report["node"]] = report
            if self.over() is None:
                _log.warning("the run goes on without node %s: %s", report["address"], report["reason"])

    def stop(self) -> None:
        """Ends the workers that run. Their trials go back to the queue."""
        for task in self.running:
            ray.cancel(task)
        try:
            if self.running:
                _, self.running = ray.wait(self.running, num_returns=len(self.running), timeout=self.grace)
        finally:
            # Also after a second Ctrl-C.
            for task in self.running:
                ray.cancel(task, force=True)
            self.running = []
