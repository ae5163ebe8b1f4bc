from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import zlib
from typing import Any

import msgspec
import pytest

from assay.core.gpu import GpuRecord
from assay.core.note import NoteCode, noted
from assay.core.reference import Reference, ReferenceKind, Witness
from assay.core.verdict import Verdict, VerdictStatus
from assay.reports.html import ROWS_PER_BLOCK, TEMPLATES, Html, blocks
from assay.reports.html_latency import POINTS, extremes, latency, side_view
from assay.testing.builders import make_measurement
from assay.testing.standard_run import standard_run


@pytest.fixture(scope="module")
def page() -> str:
    return Html().render(*standard_run())


def details_of(page: str) -> list[dict[str, Any]]:
    match = re.search(r'(?s)id="details">(.*?)</script>', page)
    assert match is not None
    lines = match[1].split("\n")
    return list(itertools.chain.from_iterable(json.loads(zlib.decompress(base64.b64decode(line))) for line in lines))


def test_the_policy_allows_exactly_this_style_and_this_script(page: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert policy.startswith("default-src 'none'")
    for kind in ("style", "script"):
        (inside,) = re.findall(rf"(?s)<{kind}>(.*?)</{kind}>", page)
        digest = base64.b64encode(hashlib.sha256(inside.encode("utf-8")).digest()).decode("ascii")
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_nothing_is_fetched_and_no_markup_is_made_from_text(page: str) -> None:
    assert not re.search(r"(?:src|href)=\"(?!#|data:,)", page)
    for script in TEMPLATES.glob("*.js"):
        text = script.read_text("utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttp"):
            assert way not in text


def test_the_details_hold_every_row_in_order(page: str) -> None:
    details = details_of(page)
    assert len(details) == 9
    first = details[0]
    assert (first["case"], first["flow"]) == ("digits-classifier", "onnxruntime")
    assert [entry["kind"] for entry in first["entries"]] == ["verify", "measure"]
    assert first["entries"][0]["comparisons"][0]["errors"]["counts"] == [310, 200, 100, 29, 1]
    assert first["entries"][1]["measurements"][0]["count"] == 200
    assert "[ WARN ] <Conv_3> & others" in details[3]["entries"][0]["log"]


def test_who_vouches_for_the_answers_that_a_loss_is_measured_by_is_shown() -> None:
    run, results, judgement = standard_run()
    reference = Reference(ReferenceKind.ORACLE, "reference-f64", "", "reference")
    witness = Witness("onnxruntime-disable", "onnxruntime", agrees_with_reference=False, node="/pool")
    lost = msgspec.structs.replace(results[0], float_reference=reference, float_witnesses=(witness,))
    text = json.dumps(details_of(Html().render(run, [lost, *results[1:]], judgement)))
    assert '["Float reference", "reference-f64"]' in text
    assert '["Its witnesses", "onnxruntime-disable differs from the reference (at node /pool)"]' in text


def test_a_segmentation_has_a_row_for_each_class() -> None:
    run, results, judgement = standard_run()
    figures = {"mean_iou": 0.5, "iou_agreement_class0": 0.996, "iou_agreement_class11": 1.0, "iou_class11": 0.25}
    classes = msgspec.structs.replace(results[0], task_metrics=figures)
    entry = details_of(Html().render(run, [classes, *results[1:]], judgement))[0]["entries"][0]
    assert entry["taskMetrics"] == [["mean_iou", "0.5"]]
    assert entry["classes"]["header"] == ["class", "iou_agreement", "iou"]
    assert entry["classes"]["rows"] == [["0", "0.996", ""], ["11", "1", "0.25"]]


def test_the_log_has_lost_its_colours(page: str) -> None:
    assert not any("\x1b" in entry.get("log", "") for row in details_of(page) for entry in row["entries"])


def test_blocks_are_of_equal_length() -> None:
    numbers = list(range(2 * ROWS_PER_BLOCK + 1))
    read = [json.loads(zlib.decompress(base64.b64decode(line))) for line in blocks(numbers)]
    assert [len(block) for block in read] == [ROWS_PER_BLOCK, ROWS_PER_BLOCK, 1]
    assert list(itertools.chain.from_iterable(read)) == numbers


def test_very_many_samples_keep_their_spikes() -> None:
    samples = [1.0] * 100_000
    samples[77_777] = 9.0
    points, stretch = extremes(samples)
    assert len(points) <= POINTS + 2
    assert stretch > 1
    assert (77_777, 9.0) in points
    assert points == sorted(points)
    assert extremes([3.0, 1.0, 2.0]) == ([(0, 3.0), (1, 1.0), (2, 2.0)], 1)


def test_the_view_from_the_side_counts_all_and_bears_a_spike() -> None:
    calm = side_view([1.0, 1.1, 1.2])
    spiky = side_view([1.0] * 99 + [400.0])
    assert (calm["log"], spiky["log"]) == (False, True)
    assert spiky["bins"] == [0, 99, *[0] * 32, 1, 0]
    for view in (calm, spiky, side_view([2.0]), side_view([0.0, 9.0]), side_view([])):
        assert view["low"] < view["high"]  # type: ignore[operator]
    assert sum(side_view([2.0, 2.0])["bins"]) == 2  # type: ignore[call-overload]


def test_a_percentile_without_support_says_what_it_needs() -> None:
    figures = dict(map(tuple, latency(make_measurement(calls=100))["figures"]))  # type: ignore[call-overload]
    assert figures["p90"].endswith(" ms")
    assert figures["p99"] == "needs 459 samples"


def test_what_was_seen_of_a_gpu_is_shown_and_what_not_too() -> None:
    def shown(gpu: GpuRecord) -> dict[str, str]:
        taken = msgspec.structs.replace(make_measurement(), device_s=(0.002,) * 9, gpu=gpu)
        return dict(map(tuple, latency(taken)["figures"]))  # type: ignore[call-overload]

    record = GpuRecord(
        "cuda events", 8, 7, {"sw_power_cap": 5, "foreign_process": 2}, (1500, 1980), (3201, 3201), ("sw_power_cap",),
        3 * 10**9, 0.25, (99,),
    )  # fmt: skip
    fields = {
        "Device median": "2.00 ms",
        "GPU clocks": "1500 to 1980 MHz",
        "GPU memory clocks": "3201 MHz",
        "Moved by": "sw_power_cap",
        "GPU utilisation": "25 %",
        "GPU memory in use": "3.00 GB",
        "Other processes": "99",
        "Calls discarded": "7 (sw_power_cap 5, foreign_process 2)",
    }
    assert fields.items() <= shown(record).items()
    assert shown(GpuRecord(untold=noted(NoteCode.NVML_SAYS, error="no binding")))["GPU"] == "NVML says: no binding"
    assert not [name for name in dict(map(tuple, latency(make_measurement())["figures"])) if "GPU" in name]  # type: ignore[call-overload]


def luminance(colour: tuple[float, ...]) -> float:
    """WCAG 2.2, relative luminance."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: tuple[float, ...], other: tuple[float, ...]) -> float:
    light, dark = sorted((luminance(first), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", [*(word.value for word in VerdictStatus), "not-run", "text", "muted", "accent"])
def test_every_colour_of_text_passes_contrast(name: str, theme: int) -> None:
    css = (TEMPLATES / "report.css").read_text("utf-8")
    themed = re.finditer(r"--([\w-]+): light-dark\(#(\w{6}), #(\w{6})\)", css)
    by_key = {match[1]: (match[2], match[3]) for match in themed}

    def colour(key: str) -> tuple[float, ...]:
        return tuple(value / 255 for value in bytes.fromhex(by_key[key][theme]))

    tinted = tuple(0.1 * ink + 0.9 * ground for ink, ground in zip(colour(name), colour("ground"), strict=True))
    assert "--tint: 10%" in css
    for ground in (colour("ground"), colour("raised"), tinted):
        assert contrast(colour(name), ground) >= 4.5


def test_what_is_to_be_copied_is_code_and_no_backtick_is_shown() -> None:
    run, results, judgement = standard_run()
    missing = Verdict(VerdictStatus.ERROR, "ask `assay flows <x>` or `assay demo`; a ` alone stays")
    page = Html().render(run, results, msgspec.structs.replace(judgement, verdicts=(*judgement.verdicts, missing)))
    shown = "ask <code>assay flows &lt;x&gt;</code> or <code>assay demo</code>; a ` alone stays"
    assert shown in page
    before_the_data = page.partition('<script type="application/json"')[0].partition("</style>")[2]
    assert before_the_data.replace(shown, "").count("`") == 0
