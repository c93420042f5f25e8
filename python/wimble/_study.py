"""Studies: ask and tell, in memory, in one SQLite file, in PostgreSQL or behind a server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from wimble import _addition, _evaluation, _outcome, _storage, _wimble
from wimble._errors import InvalidError, whole
from wimble._goal import Constraints, Goal, Objectives, goal, read_fidelity
from wimble._outcome import Outcome
from wimble._records import Records
from wimble._space import SpaceLike, Translation
from wimble._trial import Trial

if TYPE_CHECKING:
    from concurrent.futures import Executor

    import pandas  # type: ignore[import-untyped,unused-ignore]


class Study(Records):
    """A study: a space, a goal, a method, and the trials so far.

    The command `wimble` and other processes may work on the same study at the same time. A trial that was asked for
    belongs to this process until it is told or released; a thread of Rust renews its lease, also while Python computes.
    If the process dies, the trial goes back to the queue.

    >>> import wimble
    >>> study = wimble.Study("parabola", {"x": wimble.real(-2, 2)}, seed=1)
    >>> for trial in study.ask(8):
    ...     study.tell(trial, trial["x"] ** 2)
    >>> study.best.number, study.best.value
    (0, 0.0)

    Args:
        name: The name of the study in its storage.
        space: What may be chosen. Leave it out to open a study that exists.
        known: Constraints on the space that are known beforehand, such as "layers * width <= 4096".
        storage: A file of SQLite, `postgresql://user@host/database`, `http://host:8765` (`wimble serve --workers`), or None
            for memory.
        token: The token of a server. Default: that of the environment, WIMBLE_TOKEN.
        objectives: Names, or names with directions; default: one objective `value`, minimised.
        constraints: Limits on other measured values, such as `{"memory": "<= 8"}`.
        direction: "minimize" or "maximize", where there is one objective `value`.
        method: As listed by `wimble.methods()`, with settings if wanted: "bore++ width=2". Default: auto.
        seed: The same seed and the same results give the same suggestions. Default: a random one, which is kept.
        batch_size: How many points are proposed together. Default: as many as are asked for.
        trials: How many trials the study may have in all. Default: no limit.
        lease: Seconds without a heartbeat after which another worker may take a trial. Default: 60.
        retries: How many times a trial may lose its worker before it counts as failed. Default: 3.
        fidelity: What an evaluation counts as it goes on, with its lowest and highest value: `{"epochs": (1, 81)}`.
        stopping: Which trials to stop early: "none", "median", "halving", "hyperband" or "auto", the default.
        wrong_stop: How often `auto` may stop the best configuration by mistake. Default: 0.05.
        fixed: Values that are given for whatever is proposed here, by name; the method chooses the rest.
    """

    def __init__(
        self,
        name: str = "study",
        space: SpaceLike | None = None,
        *,
        known: Iterable[str] = (),
        storage: str | os.PathLike[str] | None = None,
        token: str | None = None,
        objectives: Objectives = None,
        constraints: Constraints = None,
        direction: str | None = None,
        method: str | None = None,
        seed: int | None = None,
        batch_size: int | None = None,
        trials: int | None = None,
        lease: float | None = None,
        retries: int | None = None,
        fidelity: Mapping[str, tuple[float, float]] | None = None,
        stopping: str | None = None,
        wrong_stop: float | None = None,
        fixed: Mapping[str, Any] | None = None,
    ) -> None:
        for what, text in (("name", name), ("method", method), ("stopping", stopping)):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{what} is {text!r}, but must be a str")
        if storage is None and space is None:
            raise InvalidError("a study in memory needs a space", {"field": "space"})
        given = None if space is None else Translation(space, known)
        wanted = goal(objectives, constraints, direction)
        inner = _wimble.Study(
            name,
            _storage.address(storage, token),
            given.space if given else None,
            wanted.to_engine() if wanted else None,
            method,
            None if batch_size is None else whole("batch_size", batch_size, 1),
            None if seed is None else whole("seed", seed, 0),
            None if trials is None else whole("trials", trials, 1),
            None if retries is None else whole("retries", retries, 0),
            lease,
            read_fidelity(fidelity),
            stopping,
            wrong_stop,
            None if fixed is None else given.fix(fixed) if given else dict(fixed),
        )
        self._hold(inner, storage, token, given, fixed)

    def _hold(
        self,
        inner: _wimble.Study,
        storage: str | os.PathLike[str] | None,
        token: str | None,
        given: Translation | None = None,
        fixed: Mapping[str, Any] | None = None,
    ) -> Study:
        self._inner = inner
        self._fixed = None if fixed is None else dict(fixed)
        self._storage = None if storage is None else os.fspath(storage)
        self._token = token
        self._settings = inner.settings()
        self._translation = given or Translation.of_engine(self._settings["space"])
        self._goal = Goal.of_engine(*self._settings["goal"])
        self._stopping = False
        return self

    @classmethod
    def from_file(
        cls,
        file: str | os.PathLike[str],
        *,
        storage: str | os.PathLike[str] | None = None,
        token: str | None = None,
        trials: int | None = None,
    ) -> Study:
        """Opens the study of a study file, or creates it. What is left out is as in the file.

        Its command is not run: that is what `wimble run` and `wimble.ray.run` are for.
        """
        with open(file, encoding="utf-8") as opened:
            described = _wimble.StudyFile(os.fspath(file), opened.read())
        inner = _wimble.Study.of_file(described, _storage.address(storage, token), trials)
        return cls.__new__(cls)._hold(inner, storage, token)

    def copy(
        self,
        storage: str | os.PathLike[str] | None = None,
        *,
        name: str | None = None,
        token: str | None = None,
    ) -> Study:
        """A copy of the study in another storage, or under another name: to move it, to keep one that is in memory, or as a
        backup of one that runs. Copying again brings the copy up to date.

        Trials that run wait in the queue of the copy, and `fixed` is not taken over. A token of the environment is not sent to
        the other storage.

        >>> import wimble
        >>> study = wimble.Study("first", {"x": wimble.real(0, 1)}, method="random", seed=0)
        >>> study.tell(study.ask()[0], 0.5)
        >>> study.copy(name="second").best.value
        0.5
        """
        if storage is None:
            inner, _ = self._inner.copy(name or self.name)
            place, token = self._storage, self._token
        else:
            address = _storage.address(storage, token, from_environment=False)
            inner, _ = self._inner.copy(name or self.name, address)
            place = os.fspath(storage)
            if token is None and address == place and place.startswith(("http://", "https://")) and "@" not in place:
                # None at all: a process that opens the copy again must not send that of its environment.
                token = ""
        return type(self).__new__(type(self))._hold(inner, place, token, self._translation)

    # Pauses and notes.

    def pause(self) -> None:
        """Lets no worker begin a trial, here or elsewhere, until :meth:`resume`. What runs is finished.

        `ask` raises PausedError meanwhile, and `optimize` waits.

        >>> import wimble
        >>> study = wimble.Study("pause", {"x": wimble.real(0, 1)})
        >>> study.pause()
        >>> study.ask()
        Traceback (most recent call last):
        ...
        wimble._errors.PausedError: study `pause` is paused: no trial begins until `wimble resume pause`
        >>> study.resume()
        >>> len(study.ask())
        1
        """
        self._inner.set_paused(True)

    def resume(self) -> None:
        """Lets a paused study go on."""
        self._inner.set_paused(False)

    def note(self, trial: Trial | int, text: str) -> None:
        """Writes a note on a trial, in the place of the one that was there; an empty one removes it."""
        self._inner.note(trial if isinstance(trial, int) else trial.number, text)

    # Ask and tell.

    def ask(
        self,
        count: int = 1,
        *,
        fix: Mapping[str, Any] | None = None,
        worker: str | None = None,
        key: str | None = None,
    ) -> list[Trial]:
        """Trials to evaluate; fewer, or none, once the study may have no more.

        >>> import wimble
        >>> study = wimble.Study("fix", {"x": wimble.real(0, 1), "kind": ["a", "b"]}, seed=0)
        >>> [trial["kind"] for trial in study.ask(3, fix={"kind": "b"})]
        ['b', 'b', 'b']

        Args:
            count: How many.
            fix: Values that are given, by name; the method chooses the rest. Such trials are new ones, whatever is queued.
            worker: A key for a worker that finds its own trials again after a restart. Default: a new one.
            key: A key for this request: asking again with it gives the same trials. Default: a new one.
        """
        given = self._translation.fix(fix) if fix else None
        asked = self._inner.ask(whole("count", count, 1), worker, key, given)
        decode = self._translation.from_engine
        trials = [
            Trial(number, decode(params), attempt=attempt, token=token, worker=worker)
            for number, params, token, attempt in asked
        ]
        if self._settings["fidelity"] is not None:
            for trial in trials:
                # Not a field: trials stay plain values.
                object.__setattr__(trial, "_study", self)
        return trials

    def tell(
        self,
        trial: Trial | str,
        outcome: Outcome,
        *,
        attributes: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> None:
        """Finishes a trial. Once this returns, the outcome is stored.

        Args:
            trial: A trial that `ask` gave, or its token.
            outcome: A number; values by name, of which those that are no objective and no constraint are kept as
                attributes; `wimble.FAILED`, `wimble.FAILED("why")` or `wimble.INFEASIBLE`; `wimble.STOPPED` for a trial
                that ended early, whose last step is its outcome.
            attributes: Anything that JSON can hold, kept beside the outcome.
            key: A key for this tell. Telling the same again is acknowledged and changes nothing.
        """
        if isinstance(outcome, _outcome.Stopped):
            self._inner.tell_stopped(_token(trial), dict(attributes) if attributes else None, key)
            return
        given, beside = _outcome.read(self._goal, outcome)
        kept = {**beside, **(attributes or {})}
        self._inner.tell(_token(trial), given, kept or None, key)

    def report(self, trial: Trial | str, step: float, value: Outcome) -> None:
        """Stores a step of a trial, in a study with a fidelity: what is measured when its evaluation has come this far.

        Steps grow. One that was reported already changes nothing; one at or below the last, with other values, says that
        the evaluation began anew, and drops the steps from there on.

        >>> import wimble
        >>> study = wimble.Study("curve", {"x": wimble.real(0, 1)}, method="random", fidelity={"epochs": (1, 9)})
        >>> (trial,) = study.ask()
        >>> for epoch in (1, 2, 3):
        ...     trial.report(epoch, 1 / epoch)
        >>> trial.should_stop
        False
        >>> study.tell(trial, wimble.STOPPED)
        >>> study.trial(0).state, study.trial(0).fidelity, study.steps(0)[:2]
        ('stopped', 3.0, [(1.0, {'value': 1.0}), (2.0, {'value': 0.5})])
        """
        given, _ = _outcome.read(self._goal, value)
        if not isinstance(given, dict):
            raise TypeError(f"step {step} is {value!r}, but must be a number or a dictionary of values")
        self._inner.report(_token(trial), float(step), given)

    def should_stop(self, trial: Trial | str) -> bool:
        """Whether the study's stopping rule gives a running trial up, by its steps and those of all others."""
        return self._inner.should_stop(_token(trial))

    def steps(self, trial: Trial | int) -> list[tuple[float, dict[str, float]]]:
        """The steps of a trial: how far it was, and the values there."""
        return self._inner.steps(trial.number if isinstance(trial, Trial) else trial)

    def release(self, trial: Trial | str) -> None:
        """Gives a trial back to the queue, for somebody else to evaluate."""
        self._inner.release(_token(trial))

    def adopt(self, trial: Trial | str) -> None:
        """Renews the lease of a trial from now on, in the place of the process that asked for it."""
        self._inner.adopt(_token(trial))

    def is_lost(self, trial: Trial | str) -> bool:
        """Whether the trial is known to belong to somebody else by now, so that evaluating it is in vain."""
        return self._inner.lost(_token(trial)) is not None

    async def ask_async(
        self,
        count: int = 1,
        *,
        fix: Mapping[str, Any] | None = None,
        worker: str | None = None,
        key: str | None = None,
    ) -> list[Trial]:
        """As :meth:`ask`, for asyncio: the event loop goes on meanwhile."""
        import asyncio

        return await asyncio.to_thread(self.ask, count, fix=fix, worker=worker, key=key)

    async def tell_async(
        self,
        trial: Trial | str,
        outcome: Outcome,
        *,
        attributes: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> None:
        """As :meth:`tell`, for asyncio."""
        import asyncio

        await asyncio.to_thread(self.tell, trial, outcome, attributes=attributes, key=key)

    def add(
        self,
        params: Mapping[str, Any],
        outcome: Outcome | None = None,
        *,
        attributes: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> int:
        """Adds a trial of your own: to be tried next, or evaluated elsewhere with this outcome. Returns its number.

        Adding the same again under the same key changes nothing.

        >>> import wimble
        >>> study = wimble.Study("guess", {"x": wimble.real(0, 1)})
        >>> study.add({"x": 0.25})
        0
        >>> [trial.params for trial in study.ask()]
        [{'x': 0.25}]
        """
        return self._add([_addition.Row(params, outcome, attributes, key)])[0]

    def add_trials(self, source: Study | Iterable[Trial] | pandas.DataFrame) -> int:
        """Warm start: adds the finished trials of another study, of a list, or of the rows of a DataFrame.

        A DataFrame has a column for each dimension (its name, or `params_` and its name) and one for each objective and
        constraint; rows without a value count as failed. Returns how many trials were added.
        """
        if isinstance(source, Study):
            source = source.trials(state="finished")
        rows = _addition.rows(source, self._translation, self._goal)
        return len(self._add(rows)) if rows else 0

    def _add(self, rows: Iterable[_addition.Row]) -> list[int]:
        return self._inner.add([_addition.to_engine(row, self._translation, self._goal) for row in rows])

    # Running it.

    def optimize(
        self,
        function: Callable[[Trial], Any],
        trials: int | None = None,
        *,
        workers: int | None = None,
        executor: str | Executor | None = None,
        timeout: float | None = None,
        catch: type[Exception] | tuple[type[Exception], ...] = (),
        callbacks: Iterable[Callable[[Study, Trial], Any]] = (),
        progress: bool = False,
    ) -> Study:
        """Evaluates `function(trial)` for so many more trials, in parallel, and tells each result. Returns the study.

        A function that raises makes its trial fail, with the traceback kept in `trial.output`. Exceptions of the classes in
        `catch` are then forgotten; any other ends the run and is raised. A function that returns NaN makes its trial fail.

        Args:
            function: Called with a trial; returns what :meth:`tell` takes.
            trials: How many. Default: as many as the study may have, or for as long as `timeout` allows.
            workers: How many at a time. Default: 1, or as many as the executor has.
            executor: "threads" (the default), "processes", or anything with the interface of concurrent.futures.
            timeout: Seconds after which no further trial is begun.
            catch: Exceptions after which the run goes on.
            callbacks: Called as `callback(study, trial)` after each trial; may call `study.stop()`.
            progress: Show a bar: that of tqdm if it is installed, otherwise a line in the terminal.
        """
        how = _evaluation.How(workers, executor, timeout, catch, _evaluation.listed(callbacks), progress)
        _evaluation.run(self, _evaluation.with_trial, function, trials, how)
        return self

    optimise = optimize

    def stop(self) -> None:
        """Ends `optimize` after the trials that run now. For callbacks."""
        self._stopping = True

    def close(self) -> None:
        """Gives all trials that this process holds back to the queue."""
        self._inner.release_all()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self._storage is None:
            raise TypeError(
                f"study {self.name!r} is in the memory of this process and cannot be pickled; give it a storage"
            )
        return _reopen, (self.name, self._translation.given, self.known, self._storage, self._token, self._fixed)

def _reopen(
    name: str,
    space: dict[str, Any],
    known: list[str],
    storage: str,
    token: str | None,
    fixed: Mapping[str, Any] | None,
) -> Study:
    return Study(name, space, known=known, storage=storage, token=token, fixed=fixed)


def _token(trial: Trial | str) -> str:
    if isinstance(trial, str):
        return trial
    if not isinstance(trial, Trial):
        raise TypeError(f"the trial is {trial!r}, but must be one that `ask` gave, or its token")
    if trial.token is None:
        raise InvalidError(
            f"trial {trial.number} was not given by `ask`, so that it cannot be told; "
            "`add` takes what was evaluated elsewhere",
            {"field": "trial", "value": trial.number},
        )
    return trial.token
