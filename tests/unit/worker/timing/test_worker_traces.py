"""The backend's own profile is kept, or it is said why not; it changes no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.backends.trace_events import write_timeline
from assay.core.job import MeasureJob
from assay.errors import Unsupported
from assay.judge.words.note_text import note_text
from assay.ports import Tensors
from assay.testing.builders import make_job
from assay.testing.trace_checks import what_is_not_shown
from assay.worker.timing.traces import keep_trace, what_is_wrong

FEED = {"x": np.ones(1, np.float32)}


def _at(begin: float, lasts: float = 0, ph: str = "X", tid: int | None = 1) -> dict[str, object]:
    return {"name": f"{ph} {begin}", "ph": ph, "ts": begin, "dur": lasts, "pid": 1, "tid": tid}


class _Engine:
    def __init__(self, text: str | None) -> None:
        self._text = text

    def trace(self, tensors: Tensors, folder: Path) -> None:
        if self._text is None:
            raise KeyError("ts")
        if self._text == "":
            raise Unsupported("built without a tracer")
        (folder / "own.json").write_text(self._text)


def _job(folder: Path | str) -> MeasureJob:
    job = make_job(kind="measure", trace_dir=str(folder))
    assert isinstance(job, MeasureJob)
    return job


def test_a_timeline_of_durations_is_kept_and_opens(tmp_path: Path) -> None:
    write_timeline(tmp_path / "t.json", [[("conv", 2e-6, {"type": "Conv"}), ("add", 1e-6, {})], [("conv", 2e-6, {})]])
    text = (tmp_path / "t.json").read_text()
    kept = keep_trace(_Engine(text), FEED, _job(tmp_path / "kept"))  # type: ignore[arg-type]
    assert kept == (str(tmp_path / "kept" / "own.json"),)
    assert '"name":"add","ph":"X","pid":1,"tid":1,"ts":2.0' in text


def test_a_viewer_shows_all_of_a_timeline(tmp_path: Path) -> None:
    """Perfetto 52.0 dropped 823 of 6,113 such events, whose ends were off by less than a nanosecond."""
    random = np.random.default_rng(1)
    calls = [[(f"op {at}", 1e-3 * float(seconds), {}) for at, seconds in enumerate(random.random(30))] for _ in "12345"]
    write_timeline(tmp_path / "t.json", calls)
    assert what_is_not_shown((tmp_path / "t.json").read_bytes(), overlap_ns=0) == ""


@pytest.mark.parametrize(
    ("events", "lost"),
    [
        ([_at(0, 4), _at(0, 2), _at(2, 2), _at(4, 3)], ""),
        ([_at(0, 4), _at(2, 6)], "'X 2' begins in 'X 0' and ends after it"),
        ([_at(0, 4), _at(3, 2)], ""),  # as far as whole microseconds are cut off
        ([_at(0, 4), _at(3, 6, tid=2)], ""),
        ([_at(-1, 4)], "'X -1' begins at -1"),
        ([_at(0, 4, tid=None)], "'X 0' has no tid"),
        ([_at(0, ph="B"), _at(3, ph="E")], ""),
        ([_at(0, ph="B"), _at(3, ph="E"), _at(4, ph="E")], "'E 4' ends at 4 and does not begin"),
        ([_at(0, ph="B")], "'B 0' begins at 0 and does not end"),
    ],
)
def test_what_a_viewer_does_not_show_of_a_trace(events: list[dict[str, object]], lost: str) -> None:
    assert what_is_not_shown(json.dumps(events).encode()) == lost


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (object(), "no_profile .*onnxruntime"),
        (_Engine(""), "no_trace .*built without a tracer"),
        (_Engine(None), "trace_failed .*KeyError"),
        (_Engine("{"), "no_trace .*own.json.*not_json"),
    ],
)
def test_why_there_is_none_is_said_and_nothing_stays(engine: object, words: str, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match=words):
        assert keep_trace(engine, FEED, _job(tmp_path / "kept")) == ()  # type: ignore[arg-type]
    assert not (tmp_path / "kept").exists()


def test_nobody_asked() -> None:
    assert keep_trace(object(), FEED, _job("")) == ()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (b"{}", "it has no list of events"),
        (b"[1]", "event 0 has no phase"),
        (b'[{"ph": "X", "dur": 1}]', "event 0 has no time"),
        (b'[{"ph": "X", "ts": 1, "dur": -1}]', "event 0 has no duration"),
        (b'[{"ph": "M"}]', "no event in it has a duration"),
        (b'{"traceEvents": [{"ph": "M"}, {"ph": "X", "ts": 1.5, "dur": 0}]}', ""),
        (b'[{"ph": "X", "ts": NaN, "dur": 1}]', "it is no JSON (NaN)"),
    ],
)
def test_what_a_viewer_would_not_show(text: bytes, wrong: str) -> None:
    assert note_text(what_is_wrong(text)) == wrong
