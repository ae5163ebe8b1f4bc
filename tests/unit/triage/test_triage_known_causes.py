"""Causes that were found before: where their nodes stand in another graph."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from assay.core.job import VerifyJob
from assay.core.region import GraphNode, RegionGraph
from assay.testing.builders import make_job, make_result
from assay.triage.cause import Cause, Doubt, Pattern, Where, from_json
from assay.triage.cause_page import write_pages
from assay.triage.graph import Graph
from assay.triage.known_causes import KnownCauses, occurrences, pattern_of, read_causes
from assay.triage.symptom import Symptom


def graph(*nodes: tuple[str, tuple[str, ...], str]) -> Graph:
    """Of operator, what it reads, what it writes."""
    made = tuple(GraphNode("", operator, reads, (writes,)) for operator, reads, writes in nodes)
    return Graph(RegionGraph(made, ("x",), (nodes[-1][2],), ("x", *(node[2] for node in nodes))))


SMALL = graph(("Relu", ("x",), "a"), ("Tanh", ("x",), "b"), ("Add", ("a", "b"), "c"))
LARGE = graph(
    ("Tanh", ("x",), "p"),
    ("Relu", ("p",), "q"),
    ("Tanh", ("p",), "r"),
    ("Add", ("q", "r"), "s"),
    ("Relu", ("s",), "t"),
    ("Tanh", ("q",), "u"),
    ("Add", ("t", "s"), "v"),
    ("Add", ("t", "u"), "w"),
)


def test_a_pattern_stands_where_the_same_operators_read_one_another() -> None:
    pattern = pattern_of(SMALL, frozenset({0, 1, 2}), "b", "")
    assert pattern is not None
    assert set(occurrences(LARGE, pattern)) == {frozenset({1, 2, 3}), frozenset({4, 5, 7})}


def test_a_single_operator_stands_wherever_it_is() -> None:
    pattern = pattern_of(SMALL, frozenset({2}), "b", "")
    assert pattern is not None
    assert len(occurrences(LARGE, pattern)) == 3


@pytest.mark.parametrize(
    ("attributes", "stands"),
    [({"group": "2"}, True), ({"group": "4"}, False), ({}, False), ({"group": "2", "k": "1"}, False)],
)
def test_what_nothing_cures_stands_where_the_attributes_are_the_same(attributes: dict[str, str], stands: bool) -> None:
    def one(said: dict[str, str]) -> Graph:
        return Graph(RegionGraph((GraphNode("", "Conv", ("x",), ("y",), said),), ("x",), ("y",), ("x", "y")))

    alone = frozenset({0})
    pattern = pattern_of(one({"group": "2"}), alone, "b", "", {"b": "1"})
    assert pattern is not None
    assert occurrences(one(attributes), pattern) == ([alone] if stands else [])
    cured = pattern_of(one({"group": "2"}), alone, "b", "")
    assert cured is not None
    assert occurrences(one(attributes), cured) == [alone]
    assert pattern_of(one({}), alone, "b", "", {}) is None


def test_patterns_of_other_attributes_or_versions_are_kept_beside_one_another(tmp_path: Path) -> None:
    job, made, known = make_job(), cause(tmp_path / "page"), KnownCauses(tmp_path)
    assert isinstance(job, VerifyJob)
    assert made.pattern is not None
    for versions, attributes in (({}, ()), ({"b": "1"}, ({"group": "2"},)), ({"b": "1"}, ({},)), ({"b": "2"}, ({},))):
        kept = replace(made.pattern, versions=versions, attributes=attributes)
        known.keep(job, make_result(), [replace(made, pattern=kept)])
    assert len(known.patterns("onnxruntime")) == 4


def test_without_a_cure_a_search_that_ended_early_leaves_no_pattern(tmp_path: Path) -> None:
    job, known = make_job(), KnownCauses(tmp_path)
    assert isinstance(job, VerifyJob)
    known.keep(job, make_result(), [cause(tmp_path / "page", Doubt.OUT_OF_TIME)])
    assert not known.patterns("onnxruntime")


def cause(folder: Path, *doubts: Doubt, wrong: Symptom = Symptom("values", "c", 0.5)) -> Cause:
    """Of SMALL."""
    pattern = pattern_of(SMALL, frozenset({0, 1, 2}), "onnxruntime", str(folder))
    made = Cause(
        "k", "m", "f", "onnxruntime", {}, Where.COMBINATION, wrong, wrong, doubts=doubts, pattern=pattern,
        folder=str(folder),
    )  # fmt: skip
    write_pages(made)
    return made


def test_the_same_verdict_has_the_same_cause_while_its_page_is_there(tmp_path: Path) -> None:
    job, result = make_job(), make_result()
    assert isinstance(job, VerifyJob)
    known, folder = KnownCauses(tmp_path), tmp_path / "page"
    known.keep(job, result, [cause(folder)])
    (found,) = known.of_verdict(job, result)
    assert found.known_as == str(folder)
    assert not known.of_verdict(job, replace(result, versions={"onnxruntime": "1.32.0"}))
    assert [pattern.operators for pattern in known.patterns("onnxruntime")] == [("Relu", "Tanh", "Add")]
    assert not known.patterns("openvino")
    write_pages(replace(found, seconds=9.0))
    assert not known.of_verdict(job, result), "the page is that of another one"
    shutil.rmtree(folder)
    assert not known.of_verdict(job, result)


def test_a_cause_whose_error_has_no_bound_is_told_again(tmp_path: Path) -> None:
    job, result = make_job(), make_result()
    assert isinstance(job, VerifyJob)
    known, made = KnownCauses(tmp_path), cause(tmp_path / "page", wrong=Symptom("shape", "c", math.inf))
    known.keep(job, result, [made])
    (found,) = known.of_verdict(job, result)
    assert found.symptom == made.symptom
    assert [known_cause.symptom for known_cause in read_causes(tmp_path)] == [made.symptom]
    assert from_json((tmp_path / "page" / "cause.json").read_bytes(), Cause) == made


def test_a_finding_that_is_told_again_is_told_by_its_own_script(tmp_path: Path) -> None:
    job, result = make_job(), make_result()
    assert isinstance(job, VerifyJob)
    known = KnownCauses(tmp_path)
    made = replace(cause(tmp_path / "page"), known_as="docs/findings/one.py", known_title="a defect")
    write_pages(made)
    known.keep(job, result, [made])
    (found,) = known.of_verdict(job, result)
    assert found.known_as == "docs/findings/one.py"


@pytest.mark.parametrize("doubt", [Doubt.OUT_OF_TIME, Doubt.NOT_REPEATED, Doubt.NO_VALUES])
def test_a_search_that_ended_early_is_made_again(doubt: Doubt, tmp_path: Path) -> None:
    job, result = make_job(), make_result()
    assert isinstance(job, VerifyJob)
    known = KnownCauses(tmp_path)
    known.keep(job, result, [cause(tmp_path / "page", doubt)])
    assert not known.of_verdict(job, result)


def test_of_a_process_that_died_the_pattern_alone_is_kept(tmp_path: Path) -> None:
    job, result = make_job(), replace(make_result(), versions={})
    assert isinstance(job, VerifyJob)
    known = KnownCauses(tmp_path)
    known.keep(job, result, [cause(tmp_path / "page")])
    assert not known.of_verdict(job, result), "of which release is not known"
    assert known.patterns("onnxruntime")


@pytest.mark.parametrize(
    ("versions", "types", "stands"),
    [
        ({}, ("float32", "float32"), True),
        ({}, ("float16", "float16"), True),
        ({}, ("int64", "int64"), False),
        ({}, (), True),
        ({"b": "1"}, ("float32", "float32"), True),
        ({"b": "1"}, ("float16", "float16"), False),
        ({"b": "1"}, ("float32 empty", "float32 empty"), False),
        ({"b": "1"}, (), False),
    ],
)
def test_a_defect_of_floating_numbers_is_none_of_whole_ones(
    versions: dict[str, str], types: tuple[str, ...], stands: bool
) -> None:
    def clip(types: tuple[str, ...]) -> Graph:
        node = GraphNode("", "Clip", ("x",), ("y",), {}, types)
        return Graph(RegionGraph((node,), ("x",), ("y",), ("x", "y")))

    pattern = pattern_of(clip(("float32", "float32")), frozenset({0}), "b", "", versions or None)
    assert pattern is not None
    assert bool(occurrences(clip(types), pattern)) is stands


def test_a_cause_without_a_cure_that_was_kept_before_types_were_is_known_again() -> None:
    kept = b'{"backend":"b","operators":["Relu"],"edges":[],"attributes":[{}],"versions":{"b":"1"}}'
    pattern = msgspec.json.decode(kept, type=Pattern)
    relu = GraphNode("", "Relu", ("x",), ("y",), {}, ("float32", "float32"))
    assert occurrences(Graph(RegionGraph((relu,), ("x",), ("y",), ("x", "y"))), pattern) == [frozenset({0})]
