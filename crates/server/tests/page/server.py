"""`wimble serve` as a process with its interface, for the tests that are written in Python."""

import json
import random
import re
import subprocess
import time
import urllib.parse
import urllib.request

SPACE = {"dimensions": [
    {"name": "heat", "type": "real", "low": 150, "high": 280},
    {"name": "rate", "type": "real", "low": 1e-4, "high": 1, "scale": "log"},
    {"name": "minutes", "type": "integer", "low": 10, "high": 90},
    {"name": "steam", "type": "categorical", "choices": ["none", "some", "plenty"]},
]}


class Server:
    """`wimble serve` and its interface."""

    def __init__(self, wimble, folder, port=0):
        self.command = [wimble, "serve", "--storage", str(folder / "wimble.db"), "--workers", "--write", "--port", str(port)]
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        lines = []
        while not any("tokens are kept" in line for line in lines):
            line = self.process.stdout.readline()
            assert line, f"the server ended: {lines}"
            lines.append(line)
        text = "".join(lines)
        self.base = re.search(r"page +(http://[^/]+)/", text)[1]
        self.port = int(self.base.rsplit(":", 1)[1])
        self.write_link = re.search(r"(http://\S+\?token=\S+)", text)[1]
        tokens = json.loads((folder / "wimble.tokens").read_text())
        self.work, self.write = tokens["workers"], tokens["write"]

    def post(self, path, body, token):
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(), {
            "content-type": "application/json", "authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def create(self, name, **more):
        self.post("/api/studies", {"name": name, "space": SPACE, "budget": 400, **more}, self.write)

    def trial(self, name, outcome, worker="worker-1"):
        path = "/api/studies/" + urllib.parse.quote(name, safe="")
        key = f"{time.time_ns()}"
        claim = self.post(path + "/ask", {"worker": worker, "key": key}, self.work)["claims"][0]
        self.post(path + "/tell", {"token": claim["token"], **outcome(claim["params"])}, self.work)
        return claim["trial"]

    def stop(self):
        self.process.terminate()
        self.process.wait(10)


def bake(params, draw=random.Random(3)):
    value = (params["heat"] - 236) ** 2 / 4000 + (params["minutes"] - 42) ** 2 / 900 + {"none": 0.4, "some": 0, "plenty": 0.2}[params["steam"]]
    if params["heat"] > 268 and draw.random() < 0.8:
        return {"failed": "it burnt"}
    return {"value": value + draw.random() * 0.02, "attributes": {"crust": round(params["heat"] / 3, 1)}}
