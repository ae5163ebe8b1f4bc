"""A cause has one issue: what stands in it, and that it is not written again."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from assay.fuzz.corpus import Bucket, Session
from assay.fuzz.issues import write_issues

CAUSE = Bucket(
    "k1", "flow", "engine", "values", "wrong", ("Neg",), ("Neg.axis",), ("SomePass",), title="engine 1.0: wrong values by Neg",
    first="sweep-4-7-9", dtypes=("float32",), versions={"engine": "1.0"}, found_at="2026-11-26T20:00:00+00:00", workaround="--option a=b",
)  # fmt: skip


def test_each_new_cause_has_one_text(tmp_path: Path) -> None:
    script = tmp_path / "repro.py"
    script.write_text("print(1)\n")
    buckets = {
        "k1": replace(CAUSE, script=str(script)),
        "k2": replace(CAUSE, key="k2", known="docs/findings/a.py"),
        "k3": replace(CAUSE, key="k3", status="one_witness"),
        "k4": replace(CAUSE, key="k4", status="crash", dtypes=()),
    }
    session = Session(seed=7, buckets=buckets)
    paths = write_issues(session, tmp_path / "issues")
    assert [path.name for path in paths] == ["k1.md", "k4.md"]
    text = paths[0].read_text()
    assert text.splitlines()[0] == "engine 1.0: wrong values by Neg [k1]"
    for part in (
        "wrong by two witnesses",
        "`sweep-4-7-9` (float32)",
        "`Neg.axis`",
        "`SomePass`",
        "--option a=b",
        "* engine 1.0",
    ):
        assert part in text
    assert text.endswith("```python\nprint(1)\n```\n")
    assert "ended the process" in paths[1].read_text()
    assert session.reported == ["k1", "k4"]
    assert write_issues(session, tmp_path / "issues") == []
