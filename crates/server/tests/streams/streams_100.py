"""100 event streams on a study with 200 results a second: how much they slow the run, side by side.

usage: streams_100.py WIMBLE [SECONDS]

Four workers ask and tell through `wimble serve`, 200 results a second together, for SECONDS at a time, by turns without listeners and with 100
of them. Printed: the rate that was reached, the time that an ask and a tell took, the processor time of the server for a result, what the
listeners got, and the memory of the server.
"""

import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "page"))
from server import Server  # noqa: E402

CLIENTS, RATE, WORKERS, ROUNDS = 100, 200, 4, 4


class Listener(threading.Thread):
    """Reads an event stream to its end."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.events, self.socket = 0, socket.create_connection(("127.0.0.1", server.port))
        self.socket.sendall(f"GET /api/studies/busy/events HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        self.start()

    def run(self):
        try:
            while part := self.socket.recv(1 << 16):
                self.events += part.count(b"event: change")
        except OSError:
            pass


def memory(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def processor(pid):
    """Seconds of processor time so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def work(server, seconds):
    """All workers at once: the times of all asks and tells, and how many a second."""
    found, start = [], time.perf_counter()
    threads = [threading.Thread(target=lambda name=name: found.append(one(server, name, seconds))) for name in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = [time for part in found for time in part]
    return times, len(times) / (time.perf_counter() - start)


def one(server, name, seconds):
    """Asks and tells at its part of the rate; the time of each in milliseconds."""
    link = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"content-type": "application/json", "authorization": f"Bearer {server.work}"}

    def post(path, body):
        link.request("POST", f"/api/studies/busy/{path}", json.dumps(body), headers)
        return json.loads(link.getresponse().read())

    start, times = time.perf_counter(), []
    while (now := time.perf_counter()) - start < seconds:
        claim = post("ask", {"worker": f"w{name}", "key": f"{name}-{time.time_ns()}"})["claims"][0]
        post("tell", {"token": claim["token"], "value": claim["params"]["heat"]})
        times.append(1000 * (time.perf_counter() - now))
        time.sleep(max(0.0, start + len(times) * WORKERS / RATE - time.perf_counter()))
    return times


def main(wimble, seconds="10"):
    folder = pathlib.Path(tempfile.mkdtemp())
    server = Server(wimble, folder)
    try:
        server.create("busy", method="random", budget=10_000_000, batch_size=100)
        work(server, 2)
        rates, medians, costs = {0: [], CLIENTS: []}, {0: [], CLIENTS: []}, {0: [], CLIENTS: []}
        for turn in range(2 * ROUNDS):
            clients = CLIENTS if turn % 2 else 0
            listeners = [Listener(server) for _ in range(clients)]
            time.sleep(0.5)
            before = processor(server.process.pid)
            times, rate = work(server, float(seconds))
            costs[clients].append(1000 * (processor(server.process.pid) - before) / len(times))
            rates[clients].append(rate)
            medians[clients].append(statistics.median(times))
            got = [listener.events for listener in listeners]
            for listener in listeners:
                listener.socket.close()
            print(f"{clients:3} streams: {rate:.1f} results a second, an ask and a tell {statistics.median(times):.2f} ms (95 % within "
                  f"{sorted(times)[int(len(times) * 0.95)]:.2f} ms), {costs[clients][-1]:.2f} ms of processor a result, server {memory(server.process.pid):.0f} MB"
                  + (f", events a stream {min(got)} to {max(got)}" if got else ""))
        slower = 1 - statistics.mean(rates[CLIENTS]) / statistics.mean(rates[0])
        print(f"with {CLIENTS} streams the run is {100 * slower:.1f} % slower: {statistics.mean(rates[CLIENTS]):.1f} against "
              f"{statistics.mean(rates[0]):.1f} results a second; an ask and a tell take {statistics.mean(medians[CLIENTS]):.2f} ms against {statistics.mean(medians[0]):.2f} ms, and the "
              f"server's processor {statistics.mean(costs[CLIENTS]):.2f} ms against {statistics.mean(costs[0]):.2f} ms a result")
        return 0 if slower < 0.05 else 1
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
