"""Where the metric stands, and what is refused in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_zoo.accuracy.metric import file_wanted, read_metric
from assay_zoo.accuracy.notebook_report import METRIC, Printed, Report


def report(*texts: str) -> Report:
    return Report(printed=tuple(Printed(cell=n, line=10 * n, text=text) for n, text in enumerate(texts, 1)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("top1 = 0.97\n", 0.97),
        ("loading\n  top1 = 97\nready", 97.0),
        ("top1: 1e-3", 0.001),
        ("top1=.5\ntop1 = 0.50", 0.5),
        ("top1 = -inf", float("-inf")),
        ("top1 = np.float64(0.85)", 0.85),
    ],
)
def test_a_printed_line(text: str, value: float, tmp_path: Path) -> None:
    reading = read_metric("output:top1", report("", text), tmp_path)
    assert (reading.value, reading.line) == (value, 20)


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (("mytop1 = 0.97", "top1 = 0.97 (nearly)"), "no cell printed a line 'top1 = NUMBER' while it was executed"),
        ((), "no cell printed a line 'top1 = NUMBER' while it was executed"),
        (("top1 = 0.5", "top1 = 0.9"), "top1 is printed with different values: 0.5 in cell 1, 0.9 in cell 2"),
        (("top1 = nearly-one",), "cell 1 prints top1 = 'nearly-one', which is no number"),
        (("top1 = 97%",), "cell 1 prints top1 = '97%', which is no number"),
    ],
)
def test_what_is_no_metric(texts: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    reading = read_metric("output:top1", report(*texts), tmp_path)
    assert (reading.value, reading.sentence) == (None, sentence)


@pytest.mark.parametrize(
    ("content", "key", "value"),
    [('{"a": {"b": 0.5}}', "a.b", 0.5), ("3", "", 3.0), ('{"a": 1e400}', "a", float("inf"))],
)
def test_a_file(content: str, key: str, value: float, tmp_path: Path) -> None:
    (tmp_path / METRIC).write_text(content)
    assert read_metric(f"file:out/metrics.json#{key}", report(), tmp_path).value == value


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "the notebook wrote no m.json (a regular file of at most 1048576 bytes)"),
        ("x" * 2_000_000, "the notebook wrote no m.json (a regular file of at most 1048576 bytes)"),
        ("{", "m.json, as the notebook wrote it, is no JSON"),
        ("[" * 100_000, "m.json, as the notebook wrote it, is no JSON"),
        ("{}", "m.json, as the notebook wrote it, has no 'a'"),
        ("[1]", "m.json, as the notebook wrote it, has no 'a'"),
        ('{"a": "0.9"}', "a of m.json is '0.9', which is no number"),
        ('{"a": true}', "a of m.json is 'True', which is no number"),
    ],
)
def test_a_file_that_is_none(content: str | None, sentence: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / METRIC).write_text(content)
    reading = read_metric("file:m.json#a", report(), tmp_path)
    assert (reading.value, reading.sentence) == (None, sentence)


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text('{"a": 1}')
    (tmp_path / METRIC).symlink_to(tmp_path / "elsewhere")
    assert read_metric("file:m.json#a", report(), tmp_path).value is None


@pytest.mark.parametrize("read", ["file:../m.json#a", "file:/etc/m.json#a", "file:#a", "output:", "top1", "cell:3"])
def test_a_place_that_is_none(read: str, tmp_path: Path) -> None:
    assert file_wanted(read) == ""
    reading = read_metric(read, report("top1 = 1"), tmp_path)
    assert reading.sentence.startswith(f"read = {read!r} names no place: write output:NAME")
