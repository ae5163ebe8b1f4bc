"""A new cause of `assay fuzz` is told once to the targets of assay.toml, over a real HTTP endpoint."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest

from alert_servers import endpoint
from assay.commands.alerting import MOST, rules_here
from assay.commands.alerts import list_alerts
from assay.commands.composition import open_services
from assay.commands.fuzz_alerts import tell_causes
from assay.fuzz.corpus import Bucket, Corpus, Session
from command_line import run_assay

FUZZ = ("fuzz", "--flow", "miscompiler", "--option", "fault=wrong_slope", "--generator", "sweep", "--workers", "1")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A session that found a cause and showed what it would send, and what it printed."""
    folder = tmp_path_factory.mktemp("fuzzed")
    (folder / "assay.toml").write_text('[[alerts.target]]\nname = "chat"\nurl = "http://127.0.0.1:9"\non = ["found"]\n')
    shown = run_assay(*FUZZ, "--cases", "215", "--for", "300s", "--seed", "12", "--alerts", "show", cwd=folder)
    return folder, shown.stdout


@pytest.fixture
def here(fuzzed: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of that session."""
    copytree(fuzzed[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_new_cause_is_shown(fuzzed: tuple[Path, str]) -> None:
    assert "would be sent to chat:" in fuzzed[1]
    assert "Subject: [assay] found: miscompiler" in fuzzed[1]
    assert "was not reached" not in fuzzed[1]


def test_a_new_cause_is_told_once(here: Path) -> None:
    with endpoint() as chat:
        (here / "assay.toml").write_text(f'[[alerts.target]]\nname = "chat"\nurl = "{chat.url}"\non = ["found"]\n')
        sent = run_assay(*FUZZ, "--cases", "1", "--for", "60s", cwd=here)
        assert "alert sent to chat: [assay] found: miscompiler" in sent.stdout, sent.stdout + sent.stderr
        assert len(chat.posts) == 1
        assert "LeakyRelu" in str(chat.posts[0])
        again = run_assay(*FUZZ, "--cases", "1", "--for", "60s", cwd=here)
        assert "alert" not in again.stdout
        assert len(chat.posts) == 1


def test_the_shell_knows_whether_new_causes_were_delivered(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fuzzing runs without the address; what sends ends with 1 where nobody took it."""
    monkeypatch.delenv("CHAT", raising=False)
    with endpoint() as chat:
        target = '[[alerts.target]]\nname = "chat"\nurl = { env = "CHAT" }\non = ["found"]\n'
        (here / "assay.toml").write_text(target)
        unset = run_assay("fuzz", "send", cwd=here)
        assert (unset.returncode, "CHAT, which has its address, is not set" in unset.stdout) == (1, True), unset
        monkeypatch.setenv("CHAT", chat.url)
        chat.status = 403
        refused = run_assay("fuzz", "send", cwd=here)
        assert (refused.returncode, "target 'chat' was not reached" in refused.stdout) == (1, True), refused
        session = Corpus(here / ".assay" / "fuzz").read()
        assert session is not None
        assert session.alerted == []
        chat.status = 200
        sent = run_assay("fuzz", "send", cwd=here)
        assert (sent.returncode, "alert sent to chat: [assay] found" in sent.stdout) == (0, True), sent
        again = run_assay("fuzz", "send", cwd=here)
        assert (again.returncode, again.stdout) == (0, "no new cause is to be sent\n"), again
        assert len(chat.posts) == 1


def test_each_cause_has_a_message_with_its_script_once(tmp_path: Path) -> None:
    script = tmp_path / "repro.py"
    script.write_text("import onnx\nif onnx:\n    print('@all <b>')\n")
    buckets = {
        f"{n:08x}00000000": Bucket(
            f"{n:08x}00000000", "flow", "engine", "values", "wrong", ("Neg",), title=f"cause {n}", script=str(script)
        )
        for n in range(MOST + 2)
    }
    with endpoint() as chat, open_services(str(tmp_path / "history"), workers=1) as services:
        (tmp_path / "assay.toml").write_text(f'[[alerts.target]]\nname = "chat"\nurl = "{chat.url}"\n')
        rules = rules_here(tmp_path / "assay.toml")

        def told(session: Session) -> tuple[str, ...]:
            return tell_causes(session, Corpus(tmp_path / "corpus"), services, rules, "send").lines

        first = Session(seed=1, buckets=dict(buckets))
        assert told(first)[-1] == f"2 more new causes are sent by the next call: {MOST} at once are enough to read"
        assert len(chat.posts) == MOST
        told(first)
        assert len(chat.posts) == len(buckets)
        assert f"```python\n{script.read_text()}```" in chat.posts[0]["message"]
        assert told(first) == ()

        # The folder of the session was lost, the history was not: nobody is told twice.
        lost = Session(seed=1, buckets=dict(buckets))
        assert told(lost) == ()
        assert lost.alerted == list(buckets)
        assert len(chat.posts) == len(buckets)
        assert list_alerts(str(tmp_path / "history")) == [], "what fuzzing found and was told of is nothing to do"
