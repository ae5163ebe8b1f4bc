"""A release, a regression, the block, the alert, the rollback and the audit of it: `python release.py FOLDER`.

FOLDER is made, and holds everything. A chat is played by an HTTP endpoint on the loopback.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

MODEL = Path(__file__).parents[1] / "digits" / "models" / "classifier.onnx"
GOLDEN = MODEL.parents[1] / "goldens" / "classifier"
CONFIG = """\
[[model]]
path = "classifier.onnx"
golden = "{golden}"
golden-of-another-model = true       # the answers of release 1 are what every release must still give
[flows]
use = ["onnxruntime"]
[measure]
enabled = false
[alerts]
report-url = "https://ci.example.org/runs/{{run}}"
[[alerts.target]]
name = "chat"
url = {{ env = "CHAT_URL" }}
"""
SHORT = ("--measure-seconds", "0.05")


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.chdir(folder)
    Path("assay.toml").write_text(CONFIG.format(golden=GOLDEN))
    with Chat() as chat:
        os.environ["CHAT_URL"] = f"json://127.0.0.1:{chat.server_port}/services/token"
        print("# Release 1 is approved.")
        model = onnx.load(MODEL)
        onnx.save(model, "classifier.onnx")
        assay("baseline", "set", "classifier.onnx", "--flow", "onnxruntime", *SHORT, "--reason", "release 1")

        print("# Release 2 is approved in a hurry; weights were lost on the way.")
        lose_weights(model)
        onnx.save(model, "classifier.onnx")
        assay("baseline", "set", "classifier.onnx", "--flow", "onnxruntime", *SHORT, "--reason", "release 2")

        print("# The check at night blocks, and the chat is told.")
        assay("check", code=1)
        assay("alert", "list")

        print("# Release 1 is made current again.")
        reason = "release 2 gives other answers"
        assay("baseline", "rollback", "classifier", "--flow", "onnxruntime", "--reason", reason)
        onnx.save(onnx.load(MODEL), "classifier.onnx")
        assay("check")

        print("# Who approved what, when, why and on which evidence.")
        assay("audit", "classifier")
        print("# What the chat got:")
        for post in chat.posts:
            print(f"\n{post['title']}\n\n{post['message']}")


def lose_weights(model: onnx.ModelProto) -> None:
    """The largest of them become zero."""
    weights = max(model.graph.initializer, key=lambda tensor: int(np.prod(tensor.dims)))
    values = numpy_helper.to_array(weights)
    weights.CopyFrom(numpy_helper.from_array(np.zeros_like(values), weights.name))


def assay(*words: str, code: int = 0) -> None:
    print(f"$ {shlex.join(['assay', *words])}", flush=True)
    ended = subprocess.run([sys.executable, "-m", "assay", *words], capture_output=True, text=True, check=False)
    print(ended.stdout, flush=True)
    if ended.returncode != code:
        sys.exit(f"ended with {ended.returncode}, not {code}:\n{ended.stderr}")


class Chat(ThreadingHTTPServer):
    """Keeps what it is told, for as long as it is open."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Post)
        self.posts: list[dict[str, str]] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Post(BaseHTTPRequestHandler):
    server: Chat

    def do_POST(self) -> None:
        self.server.posts.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    main(Path(sys.argv[1]))
