"""Crashes are one cause where one fact decides both. Where another operator of the same type lives, the type is not that fact."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import onnx
import pytest
from msgspec.structs import replace
from onnx import parser

import assay.fuzz.crash_experiments
import assay.fuzz.look
import assay.fuzz.screening
from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.screening import CaseId, Suspect, Unspecified
from assay.fuzz.corpus import Arm, Bucket, Corpus, Session, Waiting
from assay.fuzz.crash_experiments import experiments, try_crash
from assay.fuzz.deciding_fact import fact_of
from assay.fuzz.known import KnownCase, may_be_of, with_parts
from assay.fuzz.look import Look
from assay.fuzz.next_cases import screen_job
from assay.fuzz.same_cause import Relation, relation
from assay.generators.files import keep_case
from assay.generators.other_operators import with_one_scale
from assay.generators.schemas import schema_at
from assay.pipeline.adapters import Services
from assay.ports.generator import GeneratedCase
from assay.triage.cause import Cause, Symptom, Where

FLOW = Flow("flow", "engine")
BYTES = {"not 2 operands of uint8": True}
MIN, ADD = BYTES | {"instead Add": False}, BYTES | {"instead Min": False}
OTHER_LIVES = BYTES | {"instead Add": True}
CUBIC, CROP = ("Resize.mode=cubic",), ("Resize.coordinate_transformation_mode=tf_crop_and_resize",)
ANY_TYPE = {"not 2 operands of uint8": False, "instead Add": False}


def _crash(operator: str, ablated: dict[str, bool], signal: str = "SIGSEGV", **parts: Any) -> Bucket:
    return Bucket(operator, "flow", "engine", "crash", "crash", (operator,), signal=signal, ablated=ablated, **parts)


@pytest.mark.parametrize(
    ("bucket", "other", "due"),
    [
        (_crash("Min", MIN), _crash("Add", ADD), Relation.SAME),
        (_crash("Min", MIN), _crash("Add", ADD, "SIGABRT"), Relation.DIFFERENT),
        (
            _crash("Min", BYTES | {"instead Xor": False}),
            _crash("Add", BYTES | {"instead Mod": False}),
            Relation.DIFFERENT,
        ),
        (_crash("Min", MIN | {"as Max": True}), _crash("Add", ADD), Relation.DIFFERENT),
        (_crash("Min", OTHER_LIVES), _crash("Add", ADD), Relation.DIFFERENT),
        (_crash("Min", ANY_TYPE), _crash("Add", ADD), Relation.DIFFERENT),
        (_crash("Min", MIN), _crash("Add", {}, dtypes=("uint8",)), Relation.SAME),
        (_crash("Min", MIN), _crash("Add", {}, dtypes=("float16",)), Relation.DIFFERENT),
        (_crash("Min", ANY_TYPE), _crash("Add", {}, dtypes=("uint8",)), Relation.DIFFERENT),
        (_crash("Add", ADD), _crash("Add", {}, dtypes=("uint8",)), Relation.SAME),
        # Nothing was tried of the second: it is the first only if it has what that one is right without.
        (_crash("Add", ADD), _crash("Add", {}, dtypes=("float16",)), Relation.UNDECIDED),
        (_crash("Add", {"type uint8": True}), _crash("Add", {}, dtypes=("float16", "uint8")), Relation.SAME),
        (_crash("MatMul", {"scales": True}), _crash("MatMul", {}, dtypes=("float32",)), Relation.UNDECIDED),
        (_crash("Pad", {"Pad.mode": True}, attributes=("Pad.mode=edge",)), _crash("Pad", {}), Relation.UNDECIDED),
        (_crash("Pad", {"Pad.mode": True}), _crash("Pad", {}, attributes=("Pad.mode=edge",)), Relation.UNDECIDED),
        (_crash("Pad", {"Pad.mode": False}), _crash("Pad", {}, attributes=("Pad.mode=edge",)), Relation.SAME),
        (_crash("Resize", {}, attributes=CUBIC), _crash("Resize", {}, attributes=CROP), Relation.UNDECIDED),
        (_crash("Resize", {}, attributes=CUBIC), _crash("Resize", {}, attributes=CUBIC), Relation.SAME),
    ],
)
def test_a_type_that_decides_both_is_one_cause(bucket: Bucket, other: Bucket, due: Relation) -> None:
    assert relation(bucket, other) is due
    assert relation(other, bucket) is due


def test_a_known_crash_of_an_operator_that_ends_it_too_is_asked_for() -> None:
    known = KnownCase("sum-of-bytes", "finding", ("Add",))
    assert may_be_of(known, _crash("Max", MIN))
    assert not may_be_of(known, _crash("Max", OTHER_LIVES))
    assert not may_be_of(known, replace(_crash("Max", MIN), kind="values"))


def test_what_ends_alone_is_the_cause_and_not_what_triage_had_no_time_to_cut_down(tmp_path: Path) -> None:
    suspect = Suspect(CaseId("arithmetic", 2, 7, 0), "crash", ("Max@13",), ablated=MIN, signal="SIGSEGV")
    symptom = Symptom("crash SIGSEGV")
    cause = Cause("k", "m", "f", "engine", {}, Where.NODE, symptom, symptom, operators=("Max", "Min"))
    look = Look(Corpus(tmp_path), cast(Services, None), lambda text: None)
    bucket = look.bucket(Waiting("flow", suspect), FLOW, "crash", cause)
    assert (bucket.kind, bucket.operators, bucket.signal) == ("crash", ("Max",), "SIGSEGV")
    assert bucket.title == "engine: Max, crash (any operator on 2 operands of uint8)"
    other = replace(
        cause, symptom=Symptom("values"), operators=("Clip", "Relu"), known_as="mnn-x.py", script="s.py", folder="f"
    )
    alone = look.bucket(Waiting("flow", suspect), FLOW, "crash", other)
    assert (alone.kind, alone.operators, alone.known, alone.script, alone.folder) == ("crash", ("Max",), "", "", "")
    wider = replace(cause, operators=("Max",))
    parts = replace(suspect, operators=("Max@13", "Min@13"), ablated={})
    assert look.bucket(Waiting("flow", parts), FLOW, "crash", wider).operators == ("Max",)


@pytest.mark.parametrize(("repeats", "due"), [(True, MIN), (False, {})])
def test_what_ends_only_as_a_whole_is_tried_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, due: dict[str, bool], *, repeats: bool
) -> None:
    """No node of it ends its process alone; of one that does not end again nothing that is tried says anything."""
    look = Look(Corpus(tmp_path), cast(Services, None), lambda text: None)
    monkeypatch.setattr(look._again, "node_that_ends", lambda *_: False)
    ended = SimpleNamespace(outcome=Outcome.CRASH if repeats else Outcome.OK)
    monkeypatch.setattr(assay.fuzz.screening, "screen_kept", lambda *_: ended)
    monkeypatch.setattr(assay.fuzz.look, "try_crash", lambda *_: MIN)
    suspect = Suspect(CaseId("sweep", 2, 7, 0), "crash", ("Pad@22", "Clip@13"), signal="SIGSEGV")
    assert look._with_experiments(Waiting("flow", suspect), FLOW).suspect.ablated == due


@pytest.mark.parametrize("used", [False, True], ids=["alone", "in use"])
def test_a_crash_whose_look_was_begun_is_cut_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, used: bool
) -> None:
    suspect = Suspect(CaseId("sweep", 2, 7, 0), "crash", ("Max@13",), signal="SIGSEGV")
    job = VerifyJob(Case(str(suspect.case), Model("m", "m.onnx", "")), FLOW)
    result = replace(empty_result(job), outcome=Outcome.CRASH, signal="SIGSEGV")
    monkeypatch.setattr(
        assay.fuzz.look, "check", lambda *_: SimpleNamespace(run=SimpleNamespace(jobs=(job,)), results=(result,))
    )
    monkeypatch.setattr(assay.fuzz.look, "with_parts", lambda cut, _: cut)
    monkeypatch.setattr(assay.fuzz.look, "triage_verdict", lambda *_: [])
    monkeypatch.setattr(assay.fuzz.look, "try_crash", lambda *_: MIN)
    look = Look(Corpus(tmp_path), cast(Services, None), lambda text: None)
    monkeypatch.setattr(look._again, "node_that_ends", lambda *_: True)
    monkeypatch.setattr(look._again, "smallest", lambda *_: "again")
    if used:
        monkeypatch.setattr(assay.fuzz.look, "status_of", lambda *_, **__: "in_use")
    waiting = Waiting("flow", suspect)
    ((_, bucket),) = look.into([waiting], {"flow": FLOW}, left=9.0)
    assert (bucket.status, bucket.ablated) == ("crash", MIN)
    assert [*look.into([waiting], {"flow": FLOW}, left=-1.0)] == [], "nothing is told of it"


def test_what_ended_its_worker_has_the_parts_of_its_file(tmp_path: Path) -> None:
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
      g (uint8[2,3] a, float[2] b) => (float[2] y) { s = ReduceMax <axes = [1], keepdims = 0> (a)
        c = Cast <to = 1> (s) y = Add (c, b) }""")
    (tmp_path / "case.onnx").write_bytes(model.SerializeToString())
    ended = Suspect(CaseId("sweep", 1, 7, 0), "crash", signal="SIGSEGV", ablated={"ReduceMax.axes": False})
    whole = with_parts(ended, tmp_path / "case.onnx")
    assert whole.operators == ("ReduceMax", "Cast", "Add")
    assert whole.attributes == ("Cast.to", "ReduceMax.keepdims=0")
    assert whole.dtypes == ("uint8", "float32")


def test_a_type_decides_where_no_other_operator_lives() -> None:
    assert fact_of("crash", MIN) == "2 operands of uint8"
    assert [fact_of("crash", ablated) for ablated in (OTHER_LIVES, ANY_TYPE, BYTES)] == [""] * 3


def _scaled(operator: str, ablated: dict[str, bool]) -> Bucket:
    return Bucket(operator, "flow", "engine", "values", "wrong", ("DequantizeLinear", operator), ablated=ablated)


def test_products_that_one_scale_makes_right_are_one_cause() -> None:
    known = _scaled("MatMul", {"scales": True, "instead Gemm": False})
    assert relation(_scaled("Gemm", {"scales": True}), known) is Relation.SAME
    assert relation(_scaled("Gemm", {"scales": False}), known) is Relation.DIFFERENT
    assert relation(_scaled("Gemm", {"scales": True, "instead MatMul": True}), known) is Relation.DIFFERENT


def test_a_crash_and_a_wrong_answer_that_are_right_without_the_same_are_undecided() -> None:
    cured = {"scales": True, "DequantizeLinear.axis": True}
    known = _scaled("MatMul", cured | {"instead Gemm": False})
    died = replace(_scaled("Gemm", cured | {"instead MatMul": False}), kind="crash", signal="SIGFPE")
    assert relation(died, known) is Relation.UNDECIDED
    assert relation(replace(died, operators=known.operators), known) is Relation.UNDECIDED
    dead_too = replace(known, kind="crash", signal="SIGFPE")
    assert relation(died, dead_too) is Relation.SAME
    assert relation(died, replace(dead_too, signal="SIGSEGV")) is Relation.DIFFERENT


def test_another_operator_is_tried_where_the_node_stands() -> None:
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 13]>
      g (uint8[3] a, uint8[3] b) => (uint8[3] y) { y = Min(a, b) }""")
    fed = {name: np.ones(3, np.uint8) for name in "ab"}
    names = [name for name, _ in experiments(GeneratedCase(model.SerializeToString(), fed))]
    assert names[0] == "not 2 operands of uint8"
    assert "instead Add" in names


def test_one_element_is_tried_where_there_is_none() -> None:
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> g (float[0] x) => (float[0] y) { y = Softplus(x) }'
    )
    tried = dict(experiments(GeneratedCase(model.SerializeToString(), {"x": np.ones(0, np.float32)})))
    assert tried["filled"].inputs["x"].size == 1


def test_one_scale_is_tried_for_those_of_rows() -> None:
    model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
      g (float[1,2] x) => (float[1,2] y) <int8[2,2] w = {1,2,3,4}, float[2] s = {1,10}>
      { r = DequantizeLinear <axis = 0> (w, s) y = Gemm (x, r) }""")
    tried = dict(experiments(GeneratedCase(model.SerializeToString(), {"x": np.ones((1, 2), np.float32)})))
    assert {"scales", "instead MatMul"} <= {*tried}


def test_a_scale_of_no_rows_is_left_as_it_is() -> None:
    model = parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
      g (int8[0,2] w, float[0] x) => (float[0,2] y) <float[0] s = {}> { y = DequantizeLinear <axis = 0> (w, s) }""")
    assert [*with_one_scale(GeneratedCase(model.SerializeToString(), {}))] == []


def test_another_operator_is_tried_without_what_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """AveragePool has no `p`: with it nothing could be tried in the place of LpPool, which ends its process without `strides`."""

    def ended(places: list[Path], *_: Any) -> Any:
        model = onnx.load(f"{places[0]}.onnx")
        (node,) = model.graph.node
        stated = {attribute.name for attribute in node.attribute}
        if "kernel_shape" not in stated or not stated <= {*schema_at(node.op_type, 18).attributes}:
            return SimpleNamespace(outcome=Outcome.UNSUPPORTED, signal="")
        return SimpleNamespace(outcome=Outcome.OK if "strides" in stated else Outcome.CRASH, signal="SIGFPE")

    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 18]>
      g (float[2,1,4] x) => (float[2,1,1] y) { y = LpPool <kernel_shape = [4], p = 1, ceil_mode = 0> (x) }""")
    keep_case(GeneratedCase(model.SerializeToString(), {"x": np.ones((2, 1, 4), np.float32)}), tmp_path, "case")
    monkeypatch.setattr(assay.fuzz.crash_experiments, "screen_kept", ended)
    tried = try_crash(tmp_path / "case", FLOW, "SIGFPE", tmp_path, cast(Services, None))
    assert tried["LpPool.p"] is tried["as AveragePool"] is tried["as MaxPool"] is False
    known = _crash("AveragePool", {}, "SIGFPE", attributes=("AveragePool.kernel_shape=2",))
    assert relation(_crash("LpPool", tried, "SIGFPE"), known) is Relation.SAME


def test_what_ended_its_worker_and_answers_alone_is_a_wrong_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier case had written where it must not: the crash was told of a Resize that gives wrong numbers, which was known."""
    suspect = Suspect(CaseId("sweep", 2, 7, 0), "crash", signal="SIGSEGV")
    job = VerifyJob(Case(str(suspect.case), Model("m", "m.onnx", "")), FLOW)
    result = replace(empty_result(job), outcome=Outcome.MISMATCH)
    monkeypatch.setattr(
        assay.fuzz.look, "check", lambda *_: SimpleNamespace(run=SimpleNamespace(jobs=(job,)), results=(result,))
    )
    open_ = (Unspecified.ROUNDED_PLACE,)
    seen = Suspect(
        CaseId("kept", 0, 0, 0), "values", ("Resize@19",), ablated={"Resize.antialias": True}, unspecified=open_
    )
    asked: list[Path] = []

    def screened(places: list[Path], *_: Any) -> Any:
        asked.extend(places)
        model = parser.parse_model(
            '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (float[3] y) { y = Neg(x) }'
        )
        keep_case(GeneratedCase(model.SerializeToString(), {"x": np.ones(3, np.float32)}), Path(_[2]), seen.case)
        return replace(screen_result, suspects=(seen,))

    screen_result = empty_result(screen_job(Arm("sweep", 2, "flow"), FLOW, Corpus(tmp_path), Session(seed=7), 1.0))
    monkeypatch.setattr(assay.fuzz.screening, "screen_kept", screened)
    look = Look(Corpus(tmp_path), cast(Services, None), lambda text: None)
    ((waiting, bucket),) = look.into([Waiting("flow", suspect)], {"flow": FLOW}, left=9.0)
    assert (bucket.kind, bucket.operators, bucket.ablated) == ("values", ("Resize",), {"Resize.antialias": True})
    assert (bucket.first, bucket.signal) == (str(suspect.case), "")
    assert bucket.status == "unspecified", "what the standard leaves open of that answer"
    assert asked == [tmp_path.absolute() / "suspects" / "flow" / str(suspect.case)]
    assert asked[0].with_name(f"{suspect.case}.onnx").exists()
    assert waiting.suspect.case == suspect.case


@pytest.mark.parametrize("each_s", [0.0, 10.0])
def test_attributes_that_do_not_matter_leave_half_of_the_experiments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, each_s: float
) -> None:
    """With many nodes their attributes alone took more processes than all may take, and the most useful experiment was not tried."""
    clock, ended = [0.0], SimpleNamespace(outcome=Outcome.CRASH, signal="SIGSEGV")
    asked: list[int] = []

    def end(places: list[Path], *_: Any) -> Any:
        clock[0] += each_s
        asked.append(len(places))
        return ended

    step = "LpPool <kernel_shape = [1], p = 2, ceil_mode = 0, dilations = [1], strides = [1], pads = [0, 0]>"
    nodes = " ".join(f"a{place + 1} = {step} (a{place})" for place in range(8))
    text = f'<ir_version: 8, opset_import: ["" : 18]> g (float[2,1,4] a0) => (float[2,1,4] a8) {{ {nodes} }}'
    case = GeneratedCase(parser.parse_model(text).SerializeToString(), {"a0": np.ones((2, 1, 4), np.float32)})
    keep_case(case, tmp_path, "case")
    monkeypatch.setattr(assay.fuzz.crash_experiments, "screen_kept", end)
    monkeypatch.setattr(assay.fuzz.crash_experiments, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(assay.fuzz.crash_experiments, "experiments", lambda fewer: [("what tells most", fewer)])
    tried = try_crash(tmp_path / "case", FLOW, "SIGSEGV", tmp_path, cast(Services, None))
    assert tried["what tells most"] is tried["LpPool.kernel_shape"] is False
    assert len(asked) == (13 if each_s == 0.0 else 5)
