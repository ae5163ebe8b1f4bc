"""A queue with every kind of submission in it, made by the queue's own writing methods, for the tests of its pages."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from assay_zoo.check import GROUPS, Check, CheckOutcome
from assay_zoo.decision import decide
from assay_zoo.robot.database import Database
from assay_zoo.robot.queue import Queue
from assay_zoo.robot.queue_records import Decided, Head, Lease, Level

HOSTILE = "</title><img src=x onerror=alert(1)>\u202e"
REPOSITORY = "example/zoo"
_SENTENCES = {
    "files": "14 files, 512 kB, none of them a link, a pickle or a pointer",
    "artifacts": "every part is there and the readme says what the metadata says",
    "compliance": "the graph holds against the checker, the full check and strict inference",
    "functionality": "2 data sets agree with onnxruntime within 0.31 of the tolerance",
    "accuracy": "the notebook reports top1_accuracy 0.984, claimed 0.984",
    "performance": "0.042 ms a call, at most 5 ms by the scenario",
}


def passed(group: str, **figures: float | str) -> Check:
    return Check(
        name=f"{group}.all", outcome=CheckOutcome.PASSED, sentence=_SENTENCES[group], executed=2, seconds=0.31,
        figures=figures,
    )  # fmt: skip


GOOD = (
    *(passed(group) for group in GROUPS[:4]),
    passed("accuracy", top1_accuracy=0.984375, claimed=0.984375),
    passed("performance", latency_p50_ms=0.0421, size_bytes=61828, machine="x86-64, 2 cores"),
)
DECLINED = (
    Check(
        name="files.links", outcome=CheckOutcome.FAILED, path="weights.bin", executed=1,
        sentence="weights.bin is a hard link: hand in a copy of its own (shares its content with 1 other paths)",
    ),
    Check(
        name="artifacts.readme", outcome=CheckOutcome.FAILED, path="README.md", line=12, executed=1,
        sentence="the section References is missing",
    ),
    Check(name="artifacts.license", outcome=CheckOutcome.WAIVED, sentence="GPL-3.0-only, waived until 2027", executed=1),
    *(
        Check(name=f"{group}.all", outcome=CheckOutcome.SKIPPED, sentence="not executed: the checks of files must hold")
        for group in GROUPS[2:]
    ),
)  # fmt: skip
UNSURE = (
    *(passed(group) for group in GROUPS[:5]),
    Check(
        name="performance.previous", outcome=CheckOutcome.UNDECIDED, executed=4, seconds=61.2,
        sentence="4.1 % slower than version 1.0, allowed 5 %: too noisy to tell (95 % interval 1.2 % to 7.4 %)",
        figures={"ratio": 1.041, "latency_p50_ms": 0.044},
    ),
)  # fmt: skip


def head(which: int, title: str = "", author: str = "mira", **values: Any) -> Head:
    sha = f"{which:02x}" * 20
    branch = f"submission/model-{which}"
    fields = {
        "branch": branch,
        "ref": f"refs/heads/{branch}",
        "url": f"https://forge.example/zoo/commit/{sha}",
    } | values
    return Head(sha=sha, author=author, title=title, **fields)


def decided(queue: Queue, lease: Lease, checks: tuple[Check, ...]) -> None:
    decision = decide(checks)
    answer = Decided(
        answer=decision.answer, reasons=decision.reasons, checks=checks, digest="5f" * 32, base="ab" * 20,
        record=".assay/zoo/model-5f5f5f5f5f5f5f5f.json",
    )  # fmt: skip
    assert queue.decide(lease, answer, ())


def filled(folder: Path) -> tuple[Queue, dict[str, int]]:
    """The queue, and the ids of its submissions by what became of them."""
    clock = [time.time() - 600]

    def now() -> float:
        clock[0] += 7.0
        return clock[0]

    queue = Queue(Database(str(folder / "robot.db")), now=now)
    ids: dict[str, int] = {}

    def one(kind: str, name: str, at: Head) -> None:
        ids[kind], _ = queue.enqueue(REPOSITORY, at, name)

    def leased(kind: str, name: str, at: Head) -> Lease:
        one(kind, name, at)
        lease = queue.lease("worker-1")
        assert lease is not None
        return lease

    decided(queue, leased("promoted", "digits-classifier", head(1, "Digits, read by a small network")), GOOD)
    queue.promoted(ids["promoted"], "c0ffee" + "0" * 34)
    decided(queue, leased("declined", "linked-weights", head(2, "Weights beside the folder", number=17)), DECLINED)
    decided(queue, leased("person", "digits-classifier", head(3, "Version 1.1, a little slower")), UNSURE)
    hostile = Check(
        name="files." + HOSTILE, outcome=CheckOutcome.FAILED, sentence=HOSTILE, path=HOSTILE, line=3, executed=1,
        figures={HOSTILE: HOSTILE},
    )  # fmt: skip
    at = head(4, HOSTILE, HOSTILE, branch=HOSTILE, url="javascript:alert(1)")
    decided(queue, leased("hostile", HOSTILE, at), (hostile,))
    decided(queue, leased("rerun", "digits-segmenter", head(5, "Segments digits")), UNSURE)
    assert queue.rerun(ids["rerun"], "mira asked for it")
    assert queue.lease("worker-2") is not None
    one("superseded", "digits-detector", head(6, "First try", branch="submission/detector"))
    one("waiting", "digits-detector", head(7, "Second try", branch="submission/detector"))
    one("withdrawn", "gone", head(8, "Changed my mind"))
    queue.withdraw(REPOSITORY, "submission/model-8", 0, "the branch is gone")
    queue.note(ids["declined"], "the group files found 1 mistake", Level.ERROR)
    return queue, ids
