"""Several processes behind one port: each answers, one that is killed is replaced, and none is left."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from command_line import run_assay
from dashboard_history import dashboard_history


@pytest.fixture
def history(tmp_path: Path) -> str:
    dashboard_history(tmp_path)
    return str(tmp_path)


@contextmanager
def serving(history: str, *more: str) -> Iterator[tuple[str, psutil.Process]]:
    command = [sys.executable, "-m", "assay", "serve", "--history", history, "--port", "0", "--workers", "2", *more]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        match = re.match(r"(http\S+)/ ", started.stdout.readline())
        assert match
        server = psutil.Process(started.pid)
        try:
            until(lambda: len(server.children()) == 2)
            yield match[1], server
        finally:
            started.kill()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def ask(address: str, name: str = "") -> str:
    request = urllib.request.Request(address, headers={"X-Forwarded-User": name} if name else {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())


def test_one_that_is_killed_is_replaced_and_all_end_together(history: str) -> None:
    with serving(history) as (address, server):
        killed = server.children()[0]
        killed.kill()
        until(lambda: len(server.children()) == 2 and killed not in server.children())
        children = server.children()
        assert all("Matrix" in ask(f"{address}/") for _ in range(20))
        server.send_signal(signal.SIGTERM)
        until(lambda: not any(map(running, [server, *children])))


def test_none_is_left_where_the_first_is_killed(history: str) -> None:
    with serving(history) as (address, server):
        ask(f"{address}/healthz")
        children = server.children()
        server.kill()
        until(lambda: not any(map(running, children)))


def running(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_a_form_of_one_process_is_good_for_the_other(history: str) -> None:
    more = ("--trust-proxy", "127.0.0.1", "--operator", "ann", "--operator", "bob")
    with serving(history, *more) as (address, server):
        stopped = server.children()
        tokens = {}
        for answers, sleeps in (stopped, stopped[::-1]):
            sleeps.suspend()
            try:
                page, other = (ask(f"{address}/matrix?run=last", name) for name in ("ann", "bob"))
            finally:
                sleeps.resume()  # one that sleeps hears no signal to end
            tokens[answers.pid], of_bob = (
                set(re.findall(r'name="token" value="(\w+)"', text)) for text in (page, other)
            )
            assert tokens[answers.pid] != of_bob
        first, second = tokens.values()
        assert first == second
        assert len(first) == 1


def test_one_process_alone_knows_who_signed_in(history: str) -> None:
    oidc = ("--oidc", "https://id.example.org", "--oidc-client", "assay", "--workers", "2")
    refused = run_assay("serve", "--history", history, *oidc)
    assert refused.returncode == 2
    assert "--workers is 1 with --oidc" in refused.stderr
