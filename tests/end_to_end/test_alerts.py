"""People are told what changed, once per cause: over a real SMTP server and a real HTTP endpoint."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from alert_servers import Endpoint, MailServer, endpoint, mail_server
from command_line import run_assay
from databases import postgresql, postgresql_server
from small_models import golden_for, linear_model

__all__ = ["postgresql", "postgresql_server"]

CONFIG = """
[[model]]
path = "m.onnx"
golden = "golden"
golden-of-another-model = true
[flows]
use = ["onnxruntime"]
[measure]
enabled = false
[alerts]
report-url = "https://ci.example/{run}"
[[alerts.target]]
name = "team"
url = { env = "TEAM_URL" }
[[alerts.target]]
name = "chat"
url = { file = "chat.url" }
"""


@pytest.fixture(scope="module")
def mail() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def chat() -> Iterator[Endpoint]:
    with endpoint() as server:
        yield server


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mail: MailServer, chat: Endpoint) -> None:
    monkeypatch.chdir(tmp_path)
    golden_for(linear_model(Path("m.onnx")), Path("golden"))
    mail.mails.clear()
    monkeypatch.setenv("TEAM_URL", mail.url)
    Path("chat.url").write_text(chat.url + "\n")
    Path("assay.toml").write_text(CONFIG)


def check(*more: str) -> tuple[int, str]:
    process = run_assay("check", *more)
    return process.returncode, process.stdout + process.stderr


def broken_model() -> None:
    """Other weights than those that the golden is of: a good model fails against it."""
    linear_model(Path("m.onnx"), scale=1.5)


def git(*words: str) -> None:
    own = ("-c", "user.name=Ann Example", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *words], check=True, capture_output=True)


def test_a_cause_is_told_once_and_its_recovery(mail: MailServer, chat: Endpoint) -> None:
    git("init", "-q")
    Path(".gitignore").write_text("*\n!m.onnx\n!.gitignore\n")
    git("add", ".")
    git("commit", "-qm", "First weights")
    broken_model()
    git("commit", "-qam", "Train again")
    code, said = check("--alerts", "show")
    assert code == 1, said
    assert "would be sent to team, chat:" in said
    assert (mail.mails, chat.posts) == ([], []), "a dry run sends nothing"
    (mute,) = re.findall("assay alert mute .*", said)

    code, said = check()
    assert code == 1, said
    (letter,), (post,) = mail.mails, chat.posts
    assert letter["subject"] == post["title"] == "[assay] blocked: m on model-change: mismatch"
    text, html = (str(letter.get_body((kind,)).get_content()) for kind in ("plain", "html"))
    for part in (
        "Ann Example",
        "Train again",
        "assay check --only 'm|model-change|change'",
        "https://ci.example/",
        mute,
    ):
        assert part in text, text
        assert part.replace("'", "&#x27;") in html
        assert part in post["message"]
    assert max(len(line) for line in post["message"].splitlines() if not line.startswith("  ")) <= 80

    assert check()[0] == 1
    assert (len(mail.mails), len(chat.posts)) == (1, 1), "the same cause is told once"
    assert "m on model-change" in run_assay("alert", "list").stdout

    linear_model(Path("m.onnx"))
    assert check()[0] == 0
    assert [str(one["subject"]) for one in mail.mails[1:]] == ["[assay] recovered: m on model-change: mismatch"]
    assert run_assay("alert", "list").stdout == "no alert is open\n"
    for file in Path(".assay").rglob("*"):
        assert not file.is_file() or b"s3cr3t" not in file.read_bytes(), file


def test_a_comparison_and_a_mutation_that_block_are_told(mail: MailServer) -> None:
    """The new engine dies; and what fails without any mutant is not mutated."""
    process = run_assay("compare", "m.onnx", "--flow", "onnxruntime", "--flow", "faulty-abort", "--launches", "4")
    assert process.returncode == 1, process.stdout + process.stderr
    assert "alert sent to team" in process.stderr
    process = run_assay("mutate", "m.onnx", "--golden", "golden", "--flow", "faulty-raise", "--limit", "1")
    assert process.returncode == 1, process.stdout + process.stderr
    assert "alert sent to team" in process.stderr
    assert [str(one["subject"]) for one in mail.mails] == [
        "[assay] blocked: m on faulty-abort: crash",
        "[assay] blocked: m on faulty-raise: error",
    ]


def test_a_cause_is_told_once_by_all_that_share_a_history_on_postgresql(
    mail: MailServer,
    postgresql: str,
) -> None:
    broken_model()
    for _ in range(2):
        assert check("--history", postgresql)[0] == 1
    assert len(mail.mails) == 1
    linear_model(Path("m.onnx"))
    assert check("--history", postgresql)[0] == 0
    assert [str(one["subject"]).split(":")[0] for one in mail.mails] == ["[assay] blocked", "[assay] recovered"]
    assert run_assay("alert", "list", "--history", postgresql).stdout == "no alert is open\n"
