"""What Python adds to asking and telling, beside Rust; and a long study, beside Optuna's.

usage: python benches/python/overhead.py [ask PATH_TO_RUST_EXAMPLE | pairs COUNT | memory COUNT | sampler COUNT]

  ask      ask(10) and ten tells, 100 times in memory, beside the same in Rust:
           cargo build --release -p wimble-study --example ask_ten, then give target/release/examples/ask_ten
  pairs    COUNT ask(1)/tell pairs of auto in three real dimensions, beside Optuna's TPE in memory: ten parts by turns
  memory   COUNT asks and tells with a method that keeps no model: resident memory on the way
  sampler  time of an ask inside Optuna at 100, 1,000 and COUNT trials: WimbleSampler and TPE
"""

import subprocess
import sys
import time

import wimble

SPACE = {name: wimble.real(-1, 1) for name in "xyz"}


def sphere(params):
    return sum((params[name] - 0.3) ** 2 for name in "xyz")


def ask(example):
    def python():
        study = wimble.Study("s", SPACE, seed=0)
        began = time.perf_counter()
        for _ in range(100):
            for trial in study.ask(10):
                study.tell(trial, sphere(trial.params))
        return time.perf_counter() - began

    def rust():
        return float(subprocess.run([example], capture_output=True, text=True, check=True).stdout)

    # One after the other, so that both see the same machine.
    times = [(rust(), python()) for _ in range(7)]
    rust_time, python_time = (sorted(column)[3] for column in zip(*times))
    print(f"100 times ask(10) and 10 tells: Rust {rust_time:.3f} s, Python {python_time:.3f} s, "
          f"ratio {python_time / rust_time:.3f} (medians of 7)")


def pairs(count):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    study = wimble.Study("s", SPACE, seed=0)

    def ours():
        (trial,) = study.ask()
        study.tell(trial, sphere(trial.params))

    distributions = {name: optuna.distributions.FloatDistribution(-1, 1) for name in "xyz"}
    other = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))

    def theirs():
        trial = other.ask(distributions)
        other.tell(trial, sphere(trial.params))

    # In parts, by turns, so that both see the same machine. The processor's time: on a machine that others use too, the clock's differs.
    parts, spent, clock = 10, [0.0, 0.0], [0.0, 0.0]
    for part in range(1, parts + 1):
        for place, step in enumerate((ours, theirs)):
            began, before = time.perf_counter(), time.process_time()
            for _ in range(count // parts):
                step()
            clock[place] += time.perf_counter() - began
            spent[place] += time.process_time() - before
        print(f"{part * (count // parts)} pairs: auto {spent[0]:.2f} s of the processor, TPE {spent[1]:.2f} s, ratio "
              f"{spent[1] / spent[0]:.1f}; by the clock {clock[0]:.2f} s and {clock[1]:.2f} s", flush=True)
    print(f"best: auto {study.best.value:.2e}, TPE {other.best_value:.2e}")


def memory(count):
    def resident():
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))

    study = wimble.Study("s", SPACE, method="random", seed=0)
    before = resident()
    for done in range(1, count + 1):
        (trial,) = study.ask()
        study.tell(trial, sphere(trial.params))
        if done % (count // 10) == 0:
            print(f"{done}: {resident():.1f} MB, {(resident() - before) * 1024 / done:.2f} kB a trial", flush=True)


def sampler(count):
    import optuna

    from wimble.optuna import WimbleSampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    distributions = {name: optuna.distributions.FloatDistribution(-1, 1) for name in "xyz"}
    for name, one in (("wimble", WimbleSampler(seed=0)), ("TPE", optuna.samplers.TPESampler(seed=0))):
        study = optuna.create_study(sampler=one)
        marks = [mark for mark in (100, 1000, count) if mark <= count]
        spent = []
        for done in range(1, count + 1):
            began = time.perf_counter()
            trial = study.ask(distributions)
            spent.append(time.perf_counter() - began)
            study.tell(trial, sphere(trial.params))
            if done in marks:
                last = sorted(spent[-50:])
                print(f"{name}: {last[25] * 1e3:.2f} ms an ask at {done} trials, best {study.best_value:.2e}", flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    if len(words) != 2 or words[0] not in ("ask", "pairs", "memory", "sampler"):
        sys.exit(__doc__)
    action = {"ask": ask, "pairs": pairs, "memory": memory, "sampler": sampler}[words[0]]
    action(words[1] if words[0] == "ask" else int(words[1]))
