"""An executor for `wimble.minimize` whose calls are Ray tasks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import ray


class _RayExecutor(Executor):
    def __init__(self, options: dict[str, Any]) -> None:
        if not ray.is_initialized():
            ray.init()
        self._task = ray.remote(_apply).options(**options)

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = self._task.remote(function, args, kwargs).future()
        return future


def _apply(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


def executor(*, num_cpus: float = 1, num_gpus: float = 0, **options: Any) -> Executor:
    """An executor that runs each call as a Ray task, anywhere in the cluster.

    Args:
        num_cpus, num_gpus: What a call needs.
        options: Further options of Ray's tasks, such as `resources` or `max_retries`.
    """
    return _RayExecutor({"num_cpus": num_cpus, "num_gpus": num_gpus, **options})
