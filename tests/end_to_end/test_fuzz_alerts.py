"""A new cause of `assay fuzz` is told once to the targets of assay.toml, over a real HTTP endpoint."""

from __future__ import annotations

from pathlib import Path

from alert_servers import endpoint
from assay.commands.alerting import MOST, rules_here
from assay.commands.alerts import list_alerts
from assay.commands.composition import open_services
from assay.commands.fuzz_alerts import tell_causes
from assay.fuzz.corpus import Bucket, Corpus, Session
from command_line import run_assay

FUZZ = ("fuzz", "--flow", "miscompiler", "--option", "fault=wrong_slope", "--generator", "sweep", "--workers", "1")


def test_a_new_cause_is_told_once(tmp_path: Path) -> None:
    with endpoint() as chat:
        (tmp_path / "assay.toml").write_text(f'[[alerts.target]]\nname = "chat"\nurl = "{chat.url}"\non = ["found"]\n')
        dry = run_assay(*FUZZ, "--cases", "215", "--for", "300s", "--seed", "22", "--alerts", "show", cwd=tmp_path)
        assert "would be sent to chat:" in dry.stdout
        assert "Subject: [assay] found: miscompiler" in dry.stdout
        assert not chat.posts
        sent = run_assay(*FUZZ, "--cases", "1", "--for", "60s", cwd=tmp_path)
        assert "alert sent to chat: [assay] found: miscompiler" in sent.stdout, sent.stdout + sent.stderr
        assert len(chat.posts) == 1
        assert "LeakyRelu" in str(chat.posts[0])
        again = run_assay(*FUZZ, "--cases", "1", "--for", "60s", cwd=tmp_path)
        assert "alert" not in again.stdout
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
            return tell_causes(session, Corpus(tmp_path / "corpus"), services, rules, "send")

        first = Session(seed=1, buckets=dict(buckets))
        assert told(first)[-1] == f"2 more new causes are told by the next call: {MOST} at once are enough to read"
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
