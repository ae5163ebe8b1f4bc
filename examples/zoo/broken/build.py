"""A zoo with one submission in it: the good one, or one of the broken."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import again  # noqa: F401 - each of these enters its cases into the table
import allowed  # noqa: F401
import claims  # noqa: F401
import data  # noqa: F401
import files  # noqa: F401
import good
import graphs  # noqa: F401
import hidden  # noqa: F401
import notebooks  # noqa: F401
import opened  # noqa: F401
import orders  # noqa: F401
import published  # noqa: F401
import sly  # noqa: F401
import speed  # noqa: F401
import texts  # noqa: F401
import unlooked  # noqa: F401
from case import Broken

ZOO = 'name = "broken"\n'
SCENARIO = """\
name = "image-classification"
title = "An image to one of several classes"
task = "classification"
metric = "top1_accuracy"
minimum = 0.9

[[measures]]
metric = "latency_ms"
flow = "onnxruntime"
at_most = 50.0

[[measures]]
metric = "size_bytes"
at_most = 20_000_000
"""


def build(root: Path, case: Broken | None = None) -> Path:
    """Write a zoo into `root`, with the good submission, damaged by `case` where one is given. Returns the submission's
    folder; the good one of an earlier version is accepted already where the case needs that."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "scenarios").mkdir()
    (root / "zoo.toml").write_text(ZOO + "\n".join(("", *case.zoo, "")) if case else ZOO, encoding="utf-8")
    (root / "scenarios" / "image-classification.toml").write_text(_scenario(case), encoding="utf-8")
    folder = root / "submissions" / good.NAME
    good.write(folder)
    if case is not None:
        if case.previous:
            _accept(root, folder)
        case.breaks(folder)
    return folder


def _scenario(case: Broken | None) -> str:
    text = SCENARIO
    for pattern, put in case.scenario if case else ():
        text, count = re.subn(pattern, put, text, count=1, flags=re.MULTILINE)
        assert count, f"{case.name if case else ''}: the scenario has nothing like {pattern!r}"
    return text


def _accept(root: Path, folder: Path) -> None:
    """Take the good submission in by a person's word, and hand it in again."""
    from assay_zoo.decision import Answer, Decision
    from assay_zoo.inspect import Inspection
    from assay_zoo.intake import take_in
    from assay_zoo.promote import promote

    with tempfile.TemporaryDirectory() as scratch:
        digest = take_in(folder, Path(scratch) / "copy").digest
    unseen = Decision(answer=Answer.PERSON, reasons=("nobody looked at it",))
    seen = Inspection(name=good.NAME, digest=digest, checks=(), decision=unseen, at="2026-01-01T00:00:00+00:00")
    promote(root, good.NAME, seen, "examples/zoo/broken", reason="to be compared with")
    good.write(folder)
