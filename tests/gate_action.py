"""Runs the steps of action.yml as a runner of GitHub does: inputs and outputs put in, each step a shell with the files of the runner."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from http_server import Handler, serving
from read_yaml import read_yaml

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = read_yaml((ROOT / "action.yml").read_text())


@dataclass(frozen=True)
class Ended:
    """Of all steps: the exit code of the last one that failed, what they printed, the summary, and the outputs of the check."""

    code: int
    printed: str
    summary: str
    outputs: dict[str, str]


def run_action(folder: Path, inputs: Mapping[str, str], environment: Mapping[str, str]) -> Ended:
    """In `folder`, which is the checkout. Nothing is installed: the `assay` of these tests is the one on the PATH."""
    values = (
        {name: str(declared.get("default", "")) for name, declared in ACTION["inputs"].items()}
        | {"install": "false"}
        | dict(inputs)
    )
    files = {
        name: folder / ".runner" / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")
    }
    code, printed = 0, ""
    for step in ACTION["runs"]["steps"]:
        outputs = _outputs(files["GITHUB_OUTPUT"])
        if not _is_run(step.get("if", "success()"), values, failed=code != 0):
            continue
        for path in files.values():
            path.parent.mkdir(exist_ok=True)
            path.touch()
        own = {name: _filled(text, values, outputs) for name, text in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", _filled(step["run"], values, outputs)],
            cwd=folder,
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": os.environ.get("HOME", "/"),
                "GITHUB_ACTION_PATH": str(ROOT),
                "RUNNER_TEMP": str(folder / ".runner"),
                **{name: str(path) for name, path in files.items()},
                **environment,
                **own,
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        printed += done.stdout + done.stderr
        code = done.returncode or code
    summary = files["GITHUB_STEP_SUMMARY"]
    return Ended(code, printed, summary.read_text() if summary.exists() else "", _outputs(files["GITHUB_OUTPUT"]))


def _is_run(condition: str, inputs: Mapping[str, str], *, failed: bool) -> bool:
    """The conditions of this action: `always()`, `success()` and `inputs.NAME == 'VALUE'`, with && between."""
    if failed and "always()" not in condition:
        return False
    asked = [part.strip() for part in condition.split("&&") if part.strip() not in ("always()", "success()")]
    parts = [re.fullmatch(r"inputs\.([\w-]+) == '(.*)'", part) for part in asked]
    assert all(parts), condition
    return all(inputs[part[1]] == part[2] for part in parts if part)


def _filled(text: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    known = {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {"steps.check.outputs.reports": "", "steps.check.outputs.exit-code": ""}
    known |= {f"steps.check.outputs.{name}": value for name, value in outputs.items()}
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: known[match[1]], text)


def _outputs(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split("=", 1) for line in lines)


@dataclass
class Forge:
    """The part of GitHub's API that comments are, on a port of this machine. `refuses` is the status of every write."""

    url: str = ""
    refuses: int = 0
    comments: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@contextmanager
def forge() -> Iterator[Forge]:
    """Serves until the block ends."""
    kept = Forge()

    class Comments(Handler):
        def say(self, status: int, body: object) -> None:
            self.answer(status, json.dumps(body).encode())

        def do_GET(self) -> None:
            kept.asked.append(f"GET {self.path}")
            page = int(self.path.rpartition("=")[2])
            self.say(200, kept.comments[(page - 1) * 100 : page * 100])

        def do_POST(self) -> None:
            kept.asked.append(f"POST {self.path}")
            if kept.refuses:
                self.say(kept.refuses, {"message": "Resource not accessible by integration"})
                return
            kept.comments.append({"id": 1000 + len(kept.comments), **json.loads(self.sent)})
            self.say(201, kept.comments[-1])

        def do_PATCH(self) -> None:
            kept.asked.append(f"PATCH {self.path}")
            comments = [comment for comment in kept.comments if str(comment["id"]) == self.path.rpartition("/")[2]]
            if kept.refuses or comments[0].get("foreign"):
                self.say(kept.refuses or 403, {"message": "Resource not accessible by integration"})
                return
            comments[0].update(json.loads(self.sent))
            self.say(200, comments[0])

    with serving(Comments) as kept.url:
        yield kept
