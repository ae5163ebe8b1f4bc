"""The dashboard as a person starts it: at a free port of the loopback, over a history, until it is told to stop."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from command_line import run_assay
from dashboard_history import RUNS, dashboard_history


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("serve")
    dashboard_history(folder)
    return folder


def digest(history: Path) -> str:
    return hashlib.sha256((history / "history.db").read_bytes()).hexdigest()


def test_the_command_serves_until_it_is_stopped(history: Path) -> None:
    before = digest(history)
    started = subprocess.Popen(
        [sys.executable, "-m", "assay", "serve", "--history", str(history), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert started.stdout is not None
        line = started.stdout.readline()
        match = re.match(r"(http://127\.0\.0\.1:\d+)/ ", line)
        assert match, line
        with urllib.request.urlopen(match[1] + "/api/v1/runs", timeout=60) as answer:
            assert len(json.load(answer)["runs"]) == RUNS
        started.send_signal(signal.SIGINT)
        assert started.wait(60) in (0, 130)
    finally:
        started.kill()
        started.communicate()
    assert digest(history) == before


def test_what_cannot_be_served_is_one_sentence(history: Path, tmp_path: Path) -> None:
    def refused(*arguments: str, code: int = 2) -> str:
        ended = run_assay("serve", *arguments)
        assert ended.returncode == code, ended.stderr
        assert ended.stderr.count("\n") == 1
        return ended.stderr

    assert "there is no history in" in refused("--history", str(tmp_path))
    assert not list(tmp_path.iterdir())
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"cannot listen at 127.0.0.1 port {port}" in refused("--history", str(history), "--port", port)
    assert "must be from 0 to 65535" in refused("--history", str(history), "--port", "70000")
    for schema, code, said in ((99, 2, "was written by a newer version"), (1, 4, "was written by an unreleased assay")):
        other = tmp_path / str(schema)
        shutil.copytree(history, other)
        with sqlite3.connect(other / "history.db") as database:
            database.execute("UPDATE assay_schema SET version_num = ?", [str(schema)])
        database.close()
        before = digest(other)
        assert said in refused("--history", str(other), code=code)
        assert digest(other) == before
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "history.db").write_text("no database at all, and long enough to have a head")
    assert "not an SQLite database" in refused("--history", str(tmp_path / "text"), code=4)
    gone = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
    assert "cannot be read" in refused("--history", gone, code=4)
