"""The interface against its own description: schemathesis makes requests from /api/openapi.json, and no answer may contradict it.

usage: openapi.py WIMBLE SCHEMATHESIS [EXAMPLES]

Starts `wimble serve` on a throw-away storage with two studies, one of them with curves. EXAMPLES bounds the requests of each address.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "page"))
from server import Server, bake  # noqa: E402

# Event streams never end, and `/api/store` is for wimble itself: its calls are described by the contract of the store.
LEFT_OUT = ["/api/studies/{study}/events", "/api/store"]
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance", "response_headers_conformance"]


def main(wimble, schemathesis, examples="15"):
    folder = pathlib.Path(tempfile.mkdtemp())
    server = Server(wimble, folder)
    try:
        server.create("bake", method="random")
        for _ in range(20):
            server.trial("bake", bake)
        server.create("train", method="random", goal={
            "objectives": [{"name": "loss", "direction": "minimise"}], "fidelity": {"name": "epochs", "low": 1, "high": 9}})
        # Names of studies cannot be guessed: most requests are about those that exist.
        with urllib.request.urlopen(f"{server.base}/api/openapi.json") as answer:
            description = json.load(answer)
        for path in description["paths"].values():
            for operation in path.values():
                for parameter in operation.get("parameters", []):
                    if parameter["name"] == "study":
                        parameter["schema"] = {"enum": ["bake", "train", "none"]}
        (folder / "openapi.json").write_text(json.dumps(description))
        command = [schemathesis, "run", str(folder / "openapi.json"), "--url", server.base, "--header", f"Authorization: Bearer {server.write}",
                   "--max-examples", examples, "--checks", ",".join(CHECKS), "--seed", "1", "--request-timeout", "20", "--no-color",
                   *(word for path in LEFT_OUT for word in ["--exclude-path", path])]
        done = subprocess.run(command, cwd=folder)
        # The server is still there, whatever became of the studies.
        server.create("after", method="random")
        server.trial("after", bake)
        return done.returncode
    finally:
        server.stop()


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    print("the interface is as described" if code == 0 else "the interface is not as described")
    sys.exit(code)
