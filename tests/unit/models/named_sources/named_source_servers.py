"""Servers of files for sources by name."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

from assay.models.named_sources import to_file as fetched
from http_server import Handler


def to_file(source: str | Path) -> Path:
    return Path(fetched(source).path)


def run_git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


class Files(Handler):
    """`seen` are the tokens that it was shown, by path."""

    seen: dict[str, str | None]

    def do_GET(self) -> None:
        self.seen[self.path] = self.headers.get("Authorization")
        if self.path == "/moved.onnx":
            self._redirect("/m.onnx")
        elif self.path == "/elsewhere.onnx":
            self._redirect(f"http://localhost:{self.server.server_address[1]}/m.onnx")
        elif self.path == "/open.onnx":
            self._redirect("http://example.invalid/m.onnx")
        elif self.path == "/file.onnx":
            self._redirect("file:///etc/passwd")
        elif self.path == "/m.onnx":
            self.answer(200, b"a model")
        else:
            self.send_error(404)

    def _redirect(self, to: str) -> None:
        self.answer(302, Location=to)


class GitServer(Handler):
    """git's own server program behind HTTP, for whoever has the token."""

    folder: Path
    token = "secret"

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        wants = f"Basic {base64.b64encode(f'x-access-token:{self.token}'.encode()).decode()}"
        if self.headers.get("Authorization") != wants:
            self.send_error(401)
            return
        path, _, query = self.path.partition("?")
        environment = {
            **os.environ, "GIT_PROJECT_ROOT": str(self.folder), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path, "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type") or "", "REMOTE_USER": "a",
            "CONTENT_LENGTH": str(len(self.sent)), "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
        }  # fmt: skip
        answer = subprocess.run(
            ["git", "http-backend"], env=environment, input=self.sent, capture_output=True, check=True
        )
        head, _, body = answer.stdout.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        status = next((value for name, value in lines if name == "Status"), "200")
        self.send_response(int(status.split()[0]))
        for name, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
