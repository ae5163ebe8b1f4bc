"""A scenario's limits on measured metrics, and the version that is served now beside the new one: measured for real."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from zoo_place import metadata_says, place

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.performance.against_served import against_previous
from assay_zoo.performance.check_performance import check_performance
from assay_zoo.services import open_tools
from assay_zoo.submission import SubmissionContext, SubmissionServices
from statistical import three_tries

LIMITS = [
    {"metric": "latency_ms", "at_most": 1000.0},
    {"metric": "throughput_per_s", "at_least": 1e12},
    {"metric": "size_bytes", "at_most": 1000},
    {"metric": "load_s", "at_most": 60.0},
    {"metric": "peak_memory_bytes", "at_least": 1_000_000, "at_most": 2_000_000_000},
    {"metric": "latency_ms", "at_most": 0.0, "machine": "no-such-processor"},
]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SubmissionServices]:
    with open_tools(tmp_path_factory.mktemp("zoo")) as opened:
        yield opened


def looked_at(here: SubmissionContext, tools: SubmissionServices, scratch: Path) -> dict[str, list[Check]]:
    by_name: dict[str, list[Check]] = {}
    for check in check_performance(here, replace(tools, scratch=scratch)):
        by_name.setdefault(check.name.partition(".")[2], []).append(check)
    return by_name


def test_every_limit_is_a_check_of_its_own(tools: SubmissionServices, tmp_path: Path) -> None:
    here = place(tmp_path, measures=LIMITS)
    by_name = looked_at(here, tools, tmp_path / "scratch")
    outcomes = {name: [check.outcome for check in checks] for name, checks in by_name.items()}
    passed, failed, skipped = CheckOutcome.PASSED, CheckOutcome.FAILED, CheckOutcome.SKIPPED
    restless = outcomes.pop("throughput_per_s")
    assert restless in ([failed], [CheckOutcome.UNDECIDED])
    assert outcomes == {
        "measured": [passed], "latency_ms": [passed, skipped], "size_bytes": [failed], "load_s": [passed],
        "peak_memory_bytes": [passed], "slower": [skipped],
    }  # fmt: skip
    figures = by_name["measured"][0].figures
    assert by_name["measured"][0].executed == 1
    assert figures["size_bytes"] == (here.folder / "model.onnx").stat().st_size
    assert 0.0 < float(figures["latency_ms"]) < 1000.0
    assert float(figures["throughput_per_s"]) == pytest.approx(1000.0 / float(figures["latency_ms"]), rel=0.5)
    assert figures["flow"] == "onnxruntime"
    assert "asked of machines of the kind 'no-such-processor'" in by_name["latency_ms"][1].sentence


def test_where_every_limit_is_for_another_machine_nothing_is_executed(
    tools: SubmissionServices, tmp_path: Path
) -> None:
    here = place(tmp_path, measures=[{"metric": "load_s", "at_most": 9.0, "machine": "no-such-processor"}])
    by_name = looked_at(here, tools, tmp_path / "scratch")
    assert [check.executed for checks in by_name.values() for check in checks] == [0, 0]
    assert by_name["load_s"][0].outcome is CheckOutcome.SKIPPED


def test_a_limit_of_this_kind_of_machine_holds_here(tools: SubmissionServices, tmp_path: Path) -> None:
    from assay.pipeline.provenance import this_machine

    kind = this_machine().cpu
    here = place(tmp_path, measures=[{"metric": "size_bytes", "at_most": 1, "machine": kind[: len(kind) // 2]}])
    assert looked_at(here, tools, tmp_path / "scratch")["size_bytes"][0].outcome is CheckOutcome.FAILED


@pytest.mark.parametrize(
    ("flow", "outcome"), [("tensorrt-tf32", CheckOutcome.INFRASTRUCTURE), ("tensorrd", CheckOutcome.UNDECIDED)]
)
def test_a_flow_that_is_not_here_blames_nobody(
    flow: str, outcome: CheckOutcome, tools: SubmissionServices, tmp_path: Path
) -> None:
    here = place(tmp_path, measures=[{"metric": "size_bytes", "at_most": 1, "flow": flow}])
    by_name = looked_at(here, tools, tmp_path / "scratch")
    assert [(check.outcome, check.executed) for check in by_name["measured"]] == [(outcome, 0)]
    assert "size_bytes" not in by_name


def slow_down(folder: Path) -> None:
    """Zero times what 24 idle layers compute is added to the answer."""
    model = onnx.load(folder / "model.onnx")
    eye = numpy_helper.from_array(np.eye(512, dtype=np.float32), "idle")
    narrow = [
        numpy_helper.from_array(np.zeros(shape, np.float32), name)
        for name, shape in (("in", (10, 512)), ("out", (512, 10)))
    ]
    model.graph.initializer.extend([eye, *narrow])
    last = model.graph.node[-1]
    last.output[0] = "fast"
    nodes = [helper.make_node("MatMul", ["fast", "in"], ["idle_0"])]
    nodes += [helper.make_node("MatMul", [f"idle_{at}", "idle"], [f"idle_{at + 1}"]) for at in range(24)]
    nodes += [helper.make_node("MatMul", ["idle_24", "out"], ["nothing"])]
    nodes += [helper.make_node("Add", ["fast", "nothing"], ["logits"])]
    model.graph.node.extend(nodes)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


def beside(here: SubmissionContext, root: Path) -> SubmissionContext:
    """The same files as version 1.0, which is served."""
    served = root / "models" / "served"
    shutil.copytree(here.folder, served)
    metadata_says('version = "1.0"', 'version = "1.1"')(here.folder)
    assert here.metadata is not None
    return replace(here, previous=served, metadata=here.metadata.model_copy(update={"version": "1.1"}))


@three_tries
def test_slower_than_the_version_that_is_served_fails(tools: SubmissionServices, tmp_path: Path) -> None:
    here = beside(place(tmp_path), tmp_path)
    slow_down(here.folder)
    slower = looked_at(here, tools, tmp_path / "scratch")["slower"][0]
    assert (slower.outcome, slower.executed) == (CheckOutcome.FAILED, 1), slower.sentence
    assert slower.sentence.startswith("the version that is served now is 1.0; slower: +")
    assert str(tmp_path) not in slower.sentence
    assert float(slower.figures["slowdown_percent"]) > 50.0


@pytest.mark.slow
def test_the_same_engine_is_not_slower(tools: SubmissionServices, tmp_path: Path) -> None:
    same = looked_at(beside(place(tmp_path), tmp_path), tools, tmp_path / "scratch")["slower"][0]
    assert same.outcome in (CheckOutcome.PASSED, CheckOutcome.UNDECIDED), same.sentence


def test_the_version_that_is_served_is_not_held_against_itself(tools: SubmissionServices, tmp_path: Path) -> None:
    here = place(tmp_path)
    (check,) = against_previous(replace(here, previous=here.folder), tmp_path, tools)
    assert (check.outcome, check.sentence) == (CheckOutcome.SKIPPED, "1.0 is the version that is served now")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda served: (served / "metadata.toml").write_text("name = 3"),
            "the version that is served now cannot be read",
        ),
        (lambda served: (served / "model.onnx").write_bytes(b"x"), "it cannot be compared with 1.0"),
    ],
    ids=["metadata", "model"],
)
def test_a_served_version_that_cannot_be_run_asks_a_person(
    change, words: str, tools: SubmissionServices, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    here = beside(place(tmp_path), tmp_path)
    change(here.previous)
    (check,) = against_previous(here, tmp_path / "no-golden", tools)
    assert check.outcome is CheckOutcome.UNDECIDED
    assert check.sentence.startswith(words)
