"""Services that go wrong under load, as a user meets them: one sentence, the right outcome, no figure lost and no process left."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from assay.commands.composition import open_services
from assay.commands.load import Loaded, run_load
from assay.core.result import LoadResult
from assay.core.service import Service
from assay.core.verdict import VerdictStatus
from assay.errors import EndpointFailed, UsageError
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


def test_one_that_ends_at_the_second_rate_keeps_the_first(tmp_path: Path) -> None:
    config = _config(tmp_path, chat=_start(tmp_path, free_port(), most=20))
    found = _loaded(tmp_path, config, service="chat", rates=(5, 20, 40))
    assert found.word is VerdictStatus.FAIL
    assert any("service 'chat' ended with 9 under the load: out of memory" in one for one in found.reasons)
    assert any("not measured, since the service ended at a lower rate: 40" in one for one in found.reasons)
    assert found.checked is not None
    with open_services(str(tmp_path / ".assay"), recorded=True) as services:
        (kept,) = services.store.results(found.checked.run.id)
    assert isinstance(kept, LoadResult)
    assert [(one.rate, one.metrics["errors"] > 0) for one in kept.points] == [(5, False), (20, True)]


@pytest.mark.parametrize(("ends", "word"), [("new", VerdictStatus.FAIL), ("old", VerdictStatus.INCONCLUSIVE)])
def test_one_of_two_that_ends_is_told(ends: str, word: VerdictStatus, tmp_path: Path) -> None:
    starts = {name: _start(tmp_path, free_port(), 8 if name == ends else 10**6) for name in ("new", "old")}
    config = _config(tmp_path, **starts)
    found = _loaded(tmp_path, config, service="new", against="old", seconds=0.5)
    assert found.word is word
    assert f"service '{ends}' ended with 9 under the load: out of memory" in found.reasons
    assert found.checked is not None


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
