"""Compares the store with Optuna's RDBStorage: same number of worker processes, same machine, same run.

usage: store_compare.py BINARY POSTGRES_ADDRESS TRIALS OPTUNA_TRIALS

BINARY is the example `store_throughput`. Each worker asks for a trial, evaluates a parabola of two parameters and
tells the value; both sides sample at random. All workers are connected before the clock starts. Rates are trials a
second over all workers; Optuna gets fewer trials, for its rate does not depend on their number at this size. The two
sides take turns, three times each, and medians are compared. Prints a Markdown report.
"""

import json
import multiprocessing
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import warnings

import optuna

ROUNDS = 3
BACK_ENDS = [("SQLite", 32), ("PostgreSQL", 64)]


def storage(url):
    # A worker has one connection. SQLite's lock is waited for as long as it takes.
    arguments = {"timeout": 600} if url.startswith("sqlite") else {}
    return optuna.storages.RDBStorage(url, engine_kwargs={"connect_args": arguments})


def objective(trial):
    x, y = trial.suggest_float("x", -2, 2), trial.suggest_float("y", -2, 2)
    return x * x + y * y


def work(url, name, trials, ready, go, failures):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    try:
        study = optuna.load_study(study_name=name, storage=storage(url), sampler=optuna.samplers.RandomSampler())
        ready.release()
        go.wait()
        study.optimize(objective, n_trials=trials)
    except Exception as error:  # noqa: BLE001
        failures.put(repr(error)[:200])
        ready.release()


def optuna_rate(url, workers, trials):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    name = f"throughput-{time.time_ns()}"
    study = optuna.create_study(study_name=name, storage=storage(url))
    context = multiprocessing.get_context("spawn")
    ready, go, failures = context.Semaphore(0), context.Event(), context.Queue()
    each = max(1, trials // workers)
    processes = [context.Process(target=work, args=(url, name, each, ready, go, failures)) for _ in range(workers)]
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire()
    start = time.perf_counter()
    go.set()
    for process in processes:
        process.join()
    seconds = time.perf_counter() - start
    done = sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in study.get_trials(deepcopy=False))
    errors = []
    while not failures.empty():
        errors.append(failures.get())
    return done / seconds, errors


def our_rate(binary, address, workers, trials):
    done = subprocess.run([binary, address, str(workers), str(trials)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["rate"]


def main():
    binary, postgres, trials, optuna_trials = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    print("# Throughput of the store against Optuna's RDBStorage\n")
    print(f"Written by `benches/reference/store_compare`. Optuna {optuna.__version__}, {os.cpu_count()} processors,")
    print(f"{platform.system()}; {trials} trials of wimble and {optuna_trials} of Optuna a run, {ROUNDS} runs of each in")
    print("turn, medians. The objective costs nothing and both sample at random.\n")
    print("| back end | workers | wimble, trials/s | Optuna, trials/s | ratio | lowest ratio of a pair | errors of Optuna |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for back_end, workers in BACK_ENDS:
        ours, theirs, errors = [], [], []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                if back_end == "SQLite":
                    address, url = f"{folder}/wimble.db", f"sqlite:///{folder}/optuna.db"
                else:
                    address = postgres
                    # SQLAlchemy takes the folder of a socket as a parameter only.
                    parts = urllib.parse.urlsplit(postgres)
                    host = urllib.parse.unquote(parts.netloc.rsplit("@", 1)[1])
                    # Its tables must not meet ours, whose schema has the name of the user.
                    options = "options=-csearch_path%3Dpublic"
                    url = f"postgresql+psycopg2://{parts.username}@{parts.path}?host={host}&{options}"
                ours.append(our_rate(binary, address, workers, trials))
                rate, failed = optuna_rate(url, workers, optuna_trials)
                theirs.append(rate)
                errors += failed
        for error in sorted(set(errors)):
            print(error, file=sys.stderr)
        ratio = statistics.median(ours) / statistics.median(theirs)
        lowest = min(a / b for a, b in zip(ours, theirs, strict=True))
        print(
            f"| {back_end} | {workers} | {statistics.median(ours):.0f} | {statistics.median(theirs):.1f} "
            f"| {ratio:.1f} | {lowest:.1f} | {len(errors)} |",
            flush=True,
        )
    print("\nOther programs were using the machine at the same time: compare the ratios, not the rates.")


if __name__ == "__main__":
    main()
