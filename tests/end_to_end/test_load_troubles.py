"""Services that go wrong under load, as a user meets them: one sentence, the right outcome, no figure lost and no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.commands.composition import open_services
from assay.commands.load import Loaded, run_load
from assay.core.result import LoadResult
from assay.core.service import Service
from assay.core.verdict import VerdictStatus
from assay.errors import EndpointFailed, UsageError
from assay.launch import left_behind
from assay.launch.process_tree import is_dead
from assay.options.load import LoadOptions
from assay.serving.started import started
from free_port import free_port

SERVER = """
import http.server, json, os, signal, subprocess, sys, threading

MOST, GREETING = int(sys.argv[2]), sys.argv[3]
asked = 0

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def say(self, content):
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        self.say(json.dumps({"data": [{"id": "tiny"}]}).encode() if GREETING == "models" else GREETING.encode())

    def do_POST(self):
        global asked
        self.rfile.read(int(self.headers["Content-Length"]))
        asked += 1
        if asked > MOST:
            print("out of memory", flush=True)
            os._exit(9)
        self.say(b'{"choices": [{"text": "a"}], "usage": {"completion_tokens": 1}}')

    def log_message(self, *said): ...

if len(sys.argv) > 4:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    away = subprocess.Popen([sys.executable, "-c", child], start_new_session=True)
    open(sys.argv[4], "w").write(str(away.pid))
threading.Timer(120, os._exit, [0]).start()
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def _start(folder: Path, port: int, most: int = 10**6, greeting: str = "models", *more: str) -> str:
    script = folder / "server.py"
    script.write_text(SERVER, "utf-8")
    return " ".join([sys.executable, str(script), str(port), str(most), f"'{greeting}'", *more])


def _config(folder: Path, **starts: str) -> Path:
    text = ""
    for name, start in starts.items():
        port = start.split()[2]
        text += f'[service.{name}]\nurl = "http://127.0.0.1:{port}/v1"\nstart = """{start}"""\nready-s = 30\n'
    (folder / "assay.toml").write_text(text, "utf-8")
    return folder / "assay.toml"


def _loaded(folder: Path, config: Path, **words: object) -> Loaded:
    given: dict[str, object] = {"seconds": 2.0, "tokens": (1,), "whole": True, "arrivals": "constant"}
    return run_load(LoadOptions(config=config, history=str(folder / ".assay"), **given | words))  # type: ignore[arg-type]


def test_one_that_ends_at_the_second_rate_keeps_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.serving.started._DYING_S", 60.0)  # its last request fails before the process is gone
    config = _config(tmp_path, chat=_start(tmp_path, free_port(), most=20))
    load = _loaded(tmp_path, config, service="chat", rates=(5, 20, 40))
    assert load.word is VerdictStatus.FAIL
    (ending,) = (reason for reason in load.reasons if "service 'chat' ended with 9 under the load: " in reason)
    assert ending.endswith("out of memory")  # before it may stand what it wrote of a client that went away
    assert any("not measured, since the service ended at a lower rate: 40" in reason for reason in load.reasons)
    assert load.checked is not None
    with open_services(str(tmp_path / ".assay"), recorded=True) as services:
        (kept,) = services.store.results(load.checked.run.id)
    assert isinstance(kept, LoadResult)
    assert [(point.rate, point.metrics["errors"] > 0) for point in kept.points] == [(5, False), (20, True)]


@pytest.mark.parametrize(("ends", "word"), [("new", VerdictStatus.FAIL), ("old", VerdictStatus.INCONCLUSIVE)])
def test_one_of_two_that_ends_is_told(ends: str, word: VerdictStatus, tmp_path: Path) -> None:
    starts = {name: _start(tmp_path, free_port(), 8 if name == ends else 10**6) for name in ("new", "old")}
    config = _config(tmp_path, **starts)
    load = _loaded(tmp_path, config, service="new", against="old", seconds=0.5)
    assert load.word is word
    said = next(
        reason for reason in load.reasons if reason.startswith(f"service '{ends}' ended with 9 under the load: ")
    )
    assert said.endswith("out of memory")  # before it may stand what it wrote of a client that went away
    assert load.checked is not None


def test_one_that_is_no_such_service_is_told(tmp_path: Path) -> None:
    config = _config(tmp_path, chat=_start(tmp_path, free_port(), greeting="hello"))
    with pytest.raises(EndpointFailed, match="answered b'hello', which is not JSON: is it a service of this kind"):
        _loaded(tmp_path, config, service="chat")


def test_a_host_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises((EndpointFailed, UsageError), match=r"'a\.\.b' is no name of a host"):
        run_load(LoadOptions(address="http://a..b/v1", history=str(tmp_path / ".assay")))


def test_one_that_does_not_end_is_ended_with_what_left_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.serving.started._ENDING_S", 0.3)
    port, away = free_port(), tmp_path / "away"
    service = Service("chat", f"http://127.0.0.1:{port}/v1", _start(tmp_path, port, 9, "models", str(away)))
    with started(service) as running:
        assert running.process is not None
        pid = int(away.read_text("utf-8"))
        assert not is_dead(pid)
        assert os.getsid(pid) != os.getsid(running.process.pid)
    assert running.process.returncode == -signal.SIGKILL
    assert is_dead(pid)


def test_two_of_which_one_ends_are_told_once(tmp_path: Path) -> None:
    config = _config(tmp_path, new=_start(tmp_path, free_port(), most=8), old=_start(tmp_path, free_port(), most=10**6))
    said: list[str] = []
    options = LoadOptions(
        config=config,
        history=str(tmp_path / ".assay"),
        seconds=0.5,
        tokens=(1,),
        whole=True,
        service="new",
        against="old",
    )
    load = run_load(options, said.append)
    text = "\n".join([*said, *load.reasons])
    assert text.count("ended with 9") == 1, text
    assert "not compared with old: the new one ended" in text
    assert "inconclusive" not in text


@pytest.mark.parametrize("key", ["url", "health", "metrics"])
@pytest.mark.parametrize(
    "address", ["http:/127.0.0.1:9/health", "127.0.0.1:9", "http://127.0.0.1:99999/", "http:// a/b"]
)
def test_what_is_no_address_is_told_before_anything_starts(key: str, address: str, tmp_path: Path) -> None:
    lines = {"url": "http://127.0.0.1:9/v1", "start": f"touch {tmp_path / 'began'}"} | {key: address}
    text = "\n".join(f'{name} = "{value}"' for name, value in lines.items())
    (tmp_path / "assay.toml").write_text(f"[service.chat]\n{text}\n", "utf-8")
    with pytest.raises(UsageError, match=f"'service.chat.{key}' must be an address such as"):
        _loaded(tmp_path, tmp_path / "assay.toml", service="chat")
    assert not (tmp_path / "began").exists()


def _begun(folder: Path, config: Path, away: Path) -> subprocess.Popen[str]:
    """`assay load`, once its service is up and loaded."""
    command = [
        sys.executable,
        "-m",
        "assay",
        "load",
        "--config",
        str(config),
        "--service",
        "chat",
        "--seconds",
        "60",
        "--tokens",
        "1",
    ]
    child = subprocess.Popen(
        command,
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        # Whoever starts the tests in the background of a script has them ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert child.stderr is not None
    assert "requests a second for 60 s" in child.stderr.readline()
    assert away.exists()
    time.sleep(1)
    return child


def test_one_that_a_killed_load_has_left_is_ended_by_the_next(tmp_path: Path) -> None:
    away = tmp_path / "away"
    config = _config(tmp_path, chat=_start(tmp_path, free_port(), 10**6, "models", str(away)))
    child = _begun(tmp_path, config, away)
    child.kill()
    child.communicate(timeout=60)
    left = int(away.read_text("utf-8"))
    assert not is_dead(left)
    left_behind._looked.clear()  # as in a process of its own
    load = _loaded(tmp_path, config, service="chat", seconds=1.0)
    assert load.checked is not None
    assert is_dead(left)


def test_an_interrupted_load_says_so_in_a_sentence(tmp_path: Path) -> None:
    away = tmp_path / "away"
    config = _config(tmp_path, chat=_start(tmp_path, free_port(), 10**6, "models", str(away)))
    child = _begun(tmp_path, config, away)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert said == "assay: interrupted; services that were started are ended, and this load is not recorded\n"
    assert is_dead(int(away.read_text("utf-8")))
