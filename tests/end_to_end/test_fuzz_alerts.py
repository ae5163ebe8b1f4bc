"""A new cause of `assay fuzz` is told once to the targets of assay.toml, over a real HTTP endpoint."""

from __future__ import annotations

from pathlib import Path

from alert_servers import endpoint
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
