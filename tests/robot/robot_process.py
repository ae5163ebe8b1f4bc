"""A real robot over a real repository: `assay zoo robot` as a process of its own, pushed to with git, asked over HTTP."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from free_port import free_port

BUILDER = Path(__file__).parents[2] / "examples" / "zoo" / "broken"
NAME = "small-digits"
AUTHOR = "mira@example.org"
OPERATOR = "the operator's own token"
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Mira", "GIT_AUTHOR_EMAIL": AUTHOR,
    "GIT_COMMITTER_NAME": "Mira", "GIT_COMMITTER_EMAIL": "mira@example.org",
}  # fmt: skip


def git(folder: Path, *words: str) -> str:
    """Standard output of git in `folder`."""
    ended = subprocess.run(["git", *words], cwd=folder, env={**os.environ, **_GIT}, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode().strip()


def built(into: Path, name: str) -> Path:
    """The zoo with the broken submission `name` in it; with the good one for "good"."""
    code = (
        "import sys; from pathlib import Path; from build import build; from case import TABLE; "
        "build(Path(sys.argv[1]), TABLE[sys.argv[2]] if sys.argv[2] != 'good' else None)"
    )
    words = [sys.executable, "-c", code, str(into), name]
    subprocess.run(words, cwd=BUILDER, check=True, env={**os.environ, "PYTHONPATH": str(BUILDER)})
    return into


def _own_weights(path: Path, name: str) -> None:
    """A model that is another one, though it answers the same: of two with the same weights one needs a person."""
    import numpy as np
    import onnx

    model = onnx.load(path)
    bias = next(parameter for parameter in model.graph.initializer if len(parameter.dims) == 1)
    values = onnx.numpy_helper.to_array(bias).copy()
    values[0] += (1 + int("0" + "".join(filter(str.isdigit, name)))) * np.spacing(
        values[0]
    )  # within the tolerance of its data
    bias.CopyFrom(onnx.numpy_helper.from_array(values, bias.name))
    onnx.save(model, path)


class Repository:
    """A bare repository with a zoo on main, and a clone from which a submitter pushes."""

    def __init__(self, folder: Path, policy: str = "") -> None:
        self.bare, self.clone = folder / "zoo.git", folder / "clone"
        self._folder = folder
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        subprocess.run([sys.executable, "-m", "assay", "zoo", "init", str(self.clone)], check=True, capture_output=True)
        source = built(folder / "good", "good")
        (self.clone / "zoo.toml").write_text(f'approved = ["{AUTHOR}"]\n' + (source / "zoo.toml").read_text() + policy)
        (self.clone / "scenarios").mkdir(exist_ok=True)
        for path in (source / "scenarios").iterdir():
            (self.clone / "scenarios" / path.name).write_text(path.read_text())
        git(self.clone, "init", "--quiet", "--initial-branch=main")
        git(self.clone, "remote", "add", "origin", str(self.bare))
        git(self.clone, "add", "--all")
        git(self.clone, "commit", "--quiet", "--message=A zoo")
        git(self.clone, "push", "--quiet", "origin", "main")

    def put(self, source: Path, into: str, message: str) -> None:
        """A file or folder of the zoo's own, on main."""
        self._on("upkeep")
        if source.is_dir():
            shutil.copytree(source, self.clone / into, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, self.clone / into)
        self._push(into, message, "main")

    def _on(self, branch: str) -> None:
        git(self.clone, "fetch", "--quiet", "origin")
        git(self.clone, "switch", "--quiet", "--force-create", branch, "origin/main")

    def _push(self, path: str, message: str, branch: str) -> None:
        git(self.clone, "add", "--all", "--force", path)
        git(self.clone, "commit", "--quiet", "--allow-empty", f"--message={message}")
        git(self.clone, "push", "--quiet", "--force", "origin", f"HEAD:refs/heads/{branch}")

    def submit_folder(self, folder: Path, name: str) -> str:
        """Push submission/`name` with a copy of `folder` as it is; the commit."""
        self._on(name)
        shutil.copytree(folder, self.clone / "submissions" / name)
        self._push("submissions", f"Submit {name}", f"submission/{name}")
        return git(self.clone, "rev-parse", "HEAD")

    def submit(
        self, branch: str, kind: str = "good", name: str = NAME, extra: str = "", ref: str = "", version: str = "1.0"
    ) -> str:
        """Push submission/`branch`, or `ref`, with submissions/`name`; the commit."""
        source = self._folder / kind
        if not source.exists():
            built(source, kind)
        git(self.clone, "fetch", "--quiet", "origin")
        git(self.clone, "switch", "--quiet", "--force-create", branch, "origin/main")
        target = self.clone / "submissions" / name
        subprocess.run(["cp", "-R", str(source / "submissions" / NAME), str(target)], check=True)
        if name != NAME:
            for file in (target / "metadata.toml", target / "README.md"):
                file.write_text(file.read_text().replace(f'name = "{NAME}"', f'name = "{name}"'))
            if kind == "good":
                _own_weights(target / "model.onnx", name)
        claims = (target / "metadata.toml").read_text()
        (target / "metadata.toml").write_text(claims.replace('version = "1.0"', f'version = "{version}"'))
        if extra:
            (target / "NOTES.md").write_text(extra)
        git(self.clone, "add", "--all", "--force", "submissions")
        git(self.clone, "commit", "--quiet", f"--message=Submit {name}: {kind}")
        git(self.clone, "push", "--quiet", "--force", "origin", f"HEAD:{ref or f'refs/heads/submission/{branch}'}")
        return git(self.clone, "rev-parse", "HEAD")

    def write_as(self, email: str) -> None:
        """Commits are another's from now on."""
        _GIT["GIT_AUTHOR_EMAIL"] = email

    def message(self, commit: str) -> str:
        return git(self.bare, "log", "-1", "--format=%B", commit)

    def parents(self, commit: str) -> list[str]:
        return git(self.bare, "log", "-1", "--format=%P", commit).split()

    def shown(self, branch: str, path: str) -> str:
        """A file of a branch of the bare repository, "" where it is not."""
        process = subprocess.run(["git", "show", f"{branch}:{path}"], cwd=self.bare, capture_output=True, check=False)
        return process.stdout.decode() if process.returncode == 0 else ""

    def commits(self, branch: str, path: str) -> int:
        """How many commits of a branch changed a path."""
        return len(git(self.bare, "log", "--format=%H", branch, "--", path).splitlines())

    def status(self, sha: str, name: str = NAME) -> dict[str, Any]:
        """What the robot says of a commit on its status branch, {} for nothing yet."""
        text = self.shown("assay-status", f"{name}/{sha}.json")
        document: dict[str, Any] = json.loads(text) if text else {}
        return document


class Robot:
    """Started, stopped, killed and started again; one port and one folder of data."""

    def __init__(
        self,
        folder: Path,
        repository: Repository,
        extra: str = "",
        limits: str = "",
        source: str = "[git]\npoll_s = 0.5",
    ) -> None:
        self.site = f"http://127.0.0.1:{free_port()}"
        self.data = folder / "data"
        self._config, self._log = folder / "robot.toml", folder / "robot.log"
        (folder / "operator").write_text(OPERATOR)
        self._config.write_text(
            f'listen = "{self.site.removeprefix("http://")}"\npublic_url = "{self.site}"\ndata = "{self.data}"\n{extra}\n'
            f'[zoo]\nrepository = "{repository.bare}"\n{source}\n[limits]\nlease_s = 3\nretry_s = 0\ntaken = 1000\n{limits}\n'
            f'[operator]\ntoken = {{ file = "{folder}/operator" }}\n'
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "assay", "zoo", "robot", "--config", str(self._config)],
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it, or kill it, and wait until it is gone."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(300)
            self.process = None

    def log(self) -> str:
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def get(self, address: str) -> Any:
        # Without `verify` it reads no certificates, which takes 20 ms of a processor: this is asked many times a second.
        return httpx.get(self.site + address, timeout=60, verify=False)

    def approve(self, identity: int) -> int:
        """As an operator; the status of the answer."""
        token = {"authorization": f"Bearer {OPERATOR}"}
        return httpx.post(f"{self.site}/submissions/{identity}/approve", headers=token, timeout=60).status_code

    def queue(self) -> list[dict[str, Any]]:
        """Every submission that the robot knows; [] while it does not answer."""
        try:
            queue = self.get("/queue.json").json()
        except (httpx.HTTPError, ValueError):
            return []
        return [*queue["running"], *queue["waiting"], *queue["closed"]]

    def until(self, what: str, holds: Callable[[], Any], seconds: float = 600.0) -> Any:
        """Wait for a condition; the robot's log is shown where it does not come, or where the robot died. On a machine whose cores
        others want, too, `seconds` pass as much more slowly."""
        cores, last, left = len(os.sched_getaffinity(0)), time.monotonic(), seconds
        while not (result := holds()):
            assert self.process is not None
            assert self.process.poll() is None, f"the robot ended:\n{self.log()[-4000:]}"
            now = time.monotonic()
            left -= (now - last) * cores / max(cores, os.getloadavg()[0])
            last = now
            assert left > 0, f"{what}: not within {seconds:g} s\n{self.queue()}\n{self.log()[-4000:]}"
            time.sleep(0.2)
        return result

    def decided(self, sha: str, seconds: float = 600.0) -> dict[str, Any]:
        """The submission of a commit, once it is neither waiting nor running."""

        def found() -> dict[str, Any] | None:
            closed = ("decided", "superseded", "withdrawn")
            return next((entry for entry in self.queue() if entry["sha"] == sha and entry["state"] in closed), None)

        answer: dict[str, Any] = self.until(f"a decision on {sha[:12]}", found, seconds)
        return answer
