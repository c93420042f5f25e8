"""Evaluating a function for many trials, one at a time or by an executor, and telling each result."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from wimble import _outcome
from wimble._errors import ExhaustedError, InvalidError, LeaseLostError, PausedError, StorageError, whole

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from wimble._study import Study
    from wimble._trial import Trial

#: Seconds between looks at a study that is paused.
PAUSED_LOOK = 0.5

#: Calls a function for a trial.
Call = Callable[[Callable[..., Any], "Trial"], Any]


def with_trial(function: Callable[..., Any], trial: Trial) -> Any:
    """Calls `function(trial)`."""
    return function(trial)


def with_params(function: Callable[..., Any], trial: Trial) -> Any:
    """Calls `function(name=value, …)`."""
    return function(**trial.params)


class Raised:
    """What a function raised. It can be sent between processes, whatever the exception is made of."""

    def __init__(self, error: BaseException, trace: str) -> None:
        self.error = error
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        import pickle

        try:
            pickle.loads(pickle.dumps(self.error))
        except Exception:
            return Raised, (RuntimeError(f"{type(self.error).__name__}: {self.error}"), self.trace)
        return Raised, (self.error, self.trace)


def evaluate(call: Call, function: Callable[..., Any], trial: Trial) -> Any:
    """The result of a function, or what it raised."""
    try:
        return call(function, trial)
    except Exception as error:
        import traceback

        # The first frame is this one.
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__.tb_next))  # type: ignore[union-attr]
        return Raised(error, trace)


class How(NamedTuple):
    """How trials are evaluated; see :meth:`wimble.Study.optimize`."""

    workers: int | None
    executor: str | Executor | None
    timeout: float | None
    catch: type[Exception] | tuple[type[Exception], ...]
    callbacks: tuple[Callable[[Study, Trial], Any], ...]
    progress: bool


def run(study: Study, call: Call, function: Callable[..., Any], trials: int | None, how: How) -> None:
    """Evaluates a function for `trials` trials."""
    check(function, trials, how)
    study._stopping = False
    total, done = (study.limit, finished(study)) if trials is None else (trials, 0)
    with bar(how.progress, total, done) as advance:
        one = _Run(study, call, function, trials, how, advance)
        if how.executor is None and how.workers in (None, 1):
            one.alone()
            return
        with _pool(how.executor, how.workers) as (pool, count):
            one.by(pool, count)


def check(function: Callable[..., Any], trials: int | None, how: How) -> None:
    """Refuses what cannot be run, before anything is stored."""
    if not callable(function):
        raise TypeError(f"the function is {function!r}, but must be something to call")
    for name, value in (("trials", trials), ("workers", how.workers)):
        if value is not None:
            whole(name, value, 1)
    classes = how.catch if isinstance(how.catch, tuple) else (how.catch,)
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in classes):
        raise TypeError(f"catch is {how.catch!r}, but must be a class of exceptions, or a tuple of such")
    for callback in how.callbacks:
        if not callable(callback):
            raise TypeError(f"a callback is {callback!r}, but must be something to call")


def listed(callbacks: Iterable[Callable[[Study, Trial], Any]]) -> tuple[Callable[[Study, Trial], Any], ...]:
    """The callbacks that were given."""
    if callable(callbacks):
        raise TypeError("callbacks is one function, but must be a list of them: callbacks=[…]")
    return tuple(callbacks)


class _Run:
    def __init__(
        self,
        study: Study,
        call: Call,
        function: Callable[..., Any],
        trials: int | None,
        how: How,
        advance: Callable[[Study, int], None],
    ) -> None:
        self.study, self.call, self.function = study, call, function
        self.left = math.inf if trials is None else trials
        self.end = math.inf if how.timeout is None else time.monotonic() + how.timeout
        self.catch, self.callbacks, self.advance = how.catch, how.callbacks, advance

    def ask(self, count: int, running: int = 0) -> list[Trial]:
        """Up to `count` trials, unless the run is over. Waits while the study is paused, unless some are running."""
        count = int(min(count, self.left))
        if count < 1 or self.study._stopping or time.monotonic() >= self.end:
            return []
        while True:
            try:
                asked = self.study.ask(count)
            except ExhaustedError:
                # A finite space has no other configuration.
                return []
            except PausedError:
                if running or self.study._stopping or time.monotonic() >= self.end:
                    return []
                time.sleep(PAUSED_LOOK)
                continue
            self.left -= len(asked)
            return asked

    def alone(self) -> None:
        """One trial at a time, in this thread."""
        while asked := self.ask(1):
            (trial,) = asked
            try:
                result = evaluate(self.call, self.function, trial)
            except BaseException:
                # Interrupted: somebody else may evaluate it.
                self.give_back(trial)
                raise
            self.finish(trial, result)

    def by(self, pool: Executor, workers: int) -> None:
        """`workers` trials at a time, by an executor."""
        from queue import SimpleQueue

        done: SimpleQueue[Any] = SimpleQueue()
        running: dict[Any, Trial] = {}
        failure: Exception | None = None
        try:
            while True:
                for trial in self.ask(workers - len(running), len(running)) if failure is None else ():
                    future = pool.submit(evaluate, self.call, self.function, trial)
                    running[future] = trial
                    future.add_done_callback(done.put)
                if not running:
                    break
                future = done.get()
                trial = running.pop(future)
                try:
                    result = future.result()
                except Exception as error:
                    # The executor failed, not the function.
                    failure = failure or error
                    self.give_back(trial)
                    continue
                try:
                    self.finish(trial, result)
                except Exception as error:
                    # The others that run are waited for, and told.
                    failure = failure or error
        except BaseException:
            for future, trial in running.items():
                future.cancel()
                self.give_back(trial)
            raise
        if failure is not None:
            raise failure

    def give_back(self, trial: Trial) -> None:
        try:
            self.study.release(trial)
        except Exception as error:
            warnings.warn(f"trial {trial.number} could not be given back: {error}", RuntimeWarning, stacklevel=2)

    def finish(self, trial: Trial, result: Any) -> None:
        """Tells a result. Raises what ends the run."""
        study, failure = self.study, None
        try:
            if isinstance(result, Raised):
                import traceback

                summary = traceback.format_exception_only(type(result.error), result.error)[-1].strip()
                study.tell(trial, _outcome.FAILED(summary, result.trace))
                if not isinstance(result.error, self.catch):
                    failure = result.error
            else:
                try:
                    study.tell(trial, result)
                except (TypeError, ValueError) as error:
                    study.tell(trial, _outcome.FAILED(f"the function returned {result!r}"))
                    if not _is_not_finite(result) and not isinstance(error, self.catch):
                        error.args = (f"trial {trial.number}: {error}", *error.args[1:])
                        failure = error
        except LeaseLostError as error:
            warnings.warn(f"the result of trial {trial.number} came too late: {error}", RuntimeWarning, stacklevel=2)
            return
        except StorageError:
            self.give_back(trial)
            raise
        self.advance(study, 1)
        if self.callbacks:
            finished = study.trial(trial.number)
            for callback in self.callbacks:
                callback(study, finished)
        if failure is not None:
            raise failure


def _is_not_finite(result: Any) -> bool:
    """Whether a result has the form of one, with a number that is NaN or infinite."""
    values = result.values() if hasattr(result, "values") else result if isinstance(result, (list, tuple)) else [result]
    try:
        return any(not math.isfinite(getattr(value, "value", value)) for value in values)
    except TypeError:
        return False


@contextmanager
def _pool(executor: str | Executor | None, workers: int | None) -> Iterator[tuple[Executor, int]]:
    """The executor, and how many trials it runs at a time. One that is made here is shut down."""
    if executor is not None and not isinstance(executor, str):
        if not hasattr(executor, "submit"):
            raise TypeError(f"the executor is {executor!r}, but must have the interface of concurrent.futures")
        count = workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        yield executor, int(count)
        return
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

    count = workers or os.cpu_count() or 1
    pool: Executor
    if executor in (None, "threads"):
        pool = ThreadPoolExecutor(count, thread_name_prefix="wimble-worker")
    elif executor == "processes":
        import multiprocessing

        # Not forked: this process has threads.
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context(method))
    else:
        raise InvalidError(
            f"the executor is {executor!r}, but must be 'threads', 'processes' or an executor",
            {"field": "executor", "value": executor},
        )
    try:
        yield pool, count
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def finished(study: Study) -> int:
    """How many trials of a study have ended."""
    counts = study.counts
    return counts["complete"] + counts["failed"] + counts["infeasible"]


@contextmanager
def bar(wanted: bool, trials: int | None, done: int = 0) -> Iterator[Callable[[Study, int], None]]:
    """Advances a progress bar by so many trials, where one is wanted: tqdm's, or without tqdm a line in the terminal."""
    if not wanted:
        yield lambda study, count: None
        return
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        yield from _line(trials, done)
        return
    with tqdm(total=trials, initial=done, unit="trial") as shown:

        def advance(study: Study, count: int) -> None:
            shown.update(count)
            shown.set_postfix_str(_best(study), refresh=False)

        yield advance


def _line(trials: int | None, done: int) -> Iterator[Callable[[Study, int], None]]:
    """The same as one line of the terminal, which is written anew; nothing where there is no terminal."""
    import sys

    total = "" if trials is None else f"/{trials}"

    def advance(study: Study, count: int) -> None:
        nonlocal done
        done += count
        if sys.stderr.isatty():
            # What is left of a longer line is wiped out.
            print(f"\r{done}{total} trials, {_best(study)}\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        yield advance
    finally:
        if sys.stderr.isatty():
            print(file=sys.stderr)


def _best(study: Study) -> str:
    best = study.best
    return "no value yet" if best is None or best.value is None else f"best {best.value:.6g}"
