"""A verdict "wrong" has two witnesses: an oracle that is wrong blames nobody, an engine that is wrong is blamed, and no engine vouches
for itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

import assay
from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.core.reference import ReferenceKind
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.options.check import CheckOptions
from assay.pipeline.open_run import Checked
from command_line import run_assay
from mutating import F, save
from witnessing import BROKEN, start_workers_with


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    nodes = [
        helper.make_node("Exp", ["x"], ["e"], name="first"),
        helper.make_node("Elu", ["e"], ["s"], name="suspect"),
        helper.make_node("Sin", ["s"], ["y"], name="last"),
    ]
    return save(tmp_path / "m.onnx", nodes, {"x": (F, [2, 8])}, {"y": (F, [2, 8])})


NO_ORACLE = """
from assay.errors import Unsupported
from assay.numerics.oracle.evaluator import Evaluator

def refuse(self, *arguments, **options):
    raise Unsupported("this evaluator has no operators.")

Evaluator.evaluate = refuse
"""


def check(path: Path, flows: Sequence[str]) -> Checked:
    return assay.check(path, flows=list(flows), measure=False, history=path.parent / "h")


def only(checked: Checked) -> tuple[Result, Verdict]:
    return checked.results[0], checked.judgement.verdicts[0]


@pytest.mark.parametrize(
    ("answer", "where"),
    [("call.inputs[0] * 1.01", "; they part at node 'suspect (Elu)'"), ("call.inputs[0][None]", "")],
    ids=["values", "shape"],
)
def test_an_oracle_that_is_wrong_is_disputed_and_the_node_is_named(
    answer: str, where: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workers_with(BROKEN.format(operator="Elu", answer=answer), tmp_path, monkeypatch)
    checked = check(model, ["onnxruntime", "openvino-f32"])
    assert checked.judgement.exit_code == 3, checked.judgement.run.reason
    for verdict in checked.judgement.verdicts:
        assert verdict.word is VerdictStatus.INCONCLUSIVE
        assert "the reference is disputed" in verdict.reason
        assert f"only reference-f64 differs{where}; to decide it, " in verdict.reason
        assert "--golden ANSWERS.npz" in verdict.reason


def test_an_engine_that_is_wrong_is_blamed_by_two(model: Path) -> None:
    result, verdict = only(check(model, ["faulty-lie"]))
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.FAIL)
    assert verdict.reason.endswith("; reference-f64 and onnxruntime-disable agree")
    assert [witness.flow for witness in result.witnesses] == ["onnxruntime-disable"]


def test_engines_of_the_run_are_witnesses_too(model: Path) -> None:
    checked = check(model, ["faulty-lie", "openvino-f32"])
    reasons = {result.flow: result for result in checked.results}
    assert [witness.flow for witness in reasons["faulty-lie"].witnesses] == ["openvino-f32"]
    assert reasons["openvino-f32"].witnesses == ()
    assert checked.judgement.exit_code == 1


def test_an_output_that_is_missing_needs_no_witness(model: Path) -> None:
    result, verdict = only(check(model, ["faulty-rename_output"]))
    assert verdict.word is VerdictStatus.FAIL
    assert result.witnesses == ()


def test_a_right_engine_says_whose_answers_it_was_compared_with(model: Path) -> None:
    result, verdict = only(check(model, ["onnxruntime"]))
    assert (result.reference.kind, result.reference.producer) == (ReferenceKind.ORACLE, "reference-f64")
    assert (result.reference.library, result.reference.engine) == ("reference", "onnxruntime")
    assert verdict.reason.startswith("budget used ")
    assert verdict.reason.endswith(" of 1 against reference-f64")


def test_an_engine_is_no_witness_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CDist has no answer but that of ONNX Runtime itself."""
    start_workers_with(NO_ORACLE, tmp_path, monkeypatch)
    result, verdict = only(check(_foreign(tmp_path, "CDist", ["x", "x"]), ["onnxruntime"]))
    assert (result.outcome, verdict.word) == (Outcome.OK, VerdictStatus.INCONCLUSIVE)
    assert (result.reference.producer, result.reference.independent) == ("onnxruntime-disable", False)
    assert verdict.reason.startswith(
        "agrees with onnxruntime-disable, which is the same library (onnxruntime) and no witness of its own; "
        "nobody else could be asked (openvino-f32: "
    )
    assert "--flow onnxruntime --golden ANSWERS.npz" in verdict.reason


def test_another_library_vouches_for_what_only_engines_know(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workers_with(NO_ORACLE, tmp_path, monkeypatch)
    result, verdict = only(check(model, ["onnxruntime"]))
    assert verdict.word is VerdictStatus.PASS
    assert verdict.reason.endswith("; onnxruntime-disable and openvino-f32 agree")
    assert result.witnesses[-1].library == "openvino"


def _foreign(folder: Path, operator: str, inputs: list[str]) -> Path:
    node = helper.make_node(operator, inputs, ["y"], domain="com.microsoft")
    values = [helper.make_tensor_value_info(name, F, [4, 4]) for name in ("x", "y")]
    graph = helper.make_graph([node], "m", values[:1], values[1:])
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10), folder / "m.onnx")
    return folder / "m.onnx"


def test_an_oracle_that_is_wrong_records_no_golden(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stored wrong answers without a word."""
    record = ("golden", "record", "m.onnx", "golden", "--samples", "2", "--reason", "a test")
    with monkeypatch.context() as wrong:
        start_workers_with(BROKEN.format(operator="Elu", answer="call.inputs[0] * 1.01"), tmp_path, wrong)
        refused = run_assay(*record, cwd=tmp_path)
    assert refused.returncode == 2
    assert "the answers are disputed, and nothing was recorded: onnxruntime-disable answers otherwise" in refused.stderr
    assert "they part at node 'suspect (Elu)'" in refused.stderr
    assert not (tmp_path / "golden").exists()
    recorded = run_assay(*record, cwd=tmp_path)
    assert recorded.returncode == 0
    assert recorded.stdout.startswith("note: onnxruntime-disable agrees with reference\n")


def _changed(model: Path, factor: float) -> Path:
    """The same in other operators, with the last of them off by a factor: Elu of what is positive is Relu."""
    nodes = [
        helper.make_node("Exp", ["x"], ["e"], name="first"),
        helper.make_node("Relu", ["e"], ["s"], name="rewritten"),
        helper.make_node("Sin", ["s"], ["t"], name="last"),
        helper.make_node("Mul", ["t", "factor"], ["y"], name="scaled"),
    ]
    constants = {"factor": np.array(factor, np.float32)}
    return save(model.parent / "new.onnx", nodes, {"x": (F, [2, 8])}, {"y": (F, [2, 8])}, constants)


def _change(model: Path, factor: float) -> tuple[Result, Verdict]:
    new = _changed(model, factor)
    checked = assay.check(new, reference=model, flows=["onnxruntime"], measure=False, history=model.parent / "h")
    verdict = next(candidate for candidate in checked.judgement.verdicts if candidate.job_key.endswith("|change"))
    return next(result for result in checked.results if result.kind == "change"), verdict


@pytest.mark.parametrize(
    ("operator", "node"), [("Relu", "rewritten (Relu)"), ("Elu", "suspect (Elu), in m")], ids=["new", "original"]
)
def test_an_oracle_that_is_wrong_in_one_of_two_models_calls_no_change(
    operator: str, node: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workers_with(BROKEN.format(operator=operator, answer="call.inputs[0] * 1.01"), tmp_path, monkeypatch)
    result, verdict = _change(model, 1.0)
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.INCONCLUSIVE), verdict.reason
    assert verdict.reason.startswith(
        "the reference is disputed: onnxruntime-disable answers both models alike, and reference-f64 does not; "
        f"they part at node '{node}'; to decide it, "
    )
    assert "/new.onnx --golden ANSWERS.npz`; seen: output 'y'" in verdict.reason


def test_a_change_that_a_witness_sees_too_is_one(model: Path) -> None:
    result, verdict = _change(model, 1.01)
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.FAIL)
    assert verdict.reason.endswith("; reference-f64 and onnxruntime-disable agree")
    assert (result.reference.producer, result.reference.kind) == ("reference-f64", ReferenceKind.ORACLE)
    result, verdict = _change(model, 1.0)
    assert verdict.word is VerdictStatus.PASS
    assert result.witnesses == ()
    assert [witness.flow for witness in result.float_witnesses] == ["onnxruntime-disable"]


def test_an_oracle_that_loses_a_part_of_a_sequence_blames_no_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_workers_with(
        BROKEN.format(operator="SequenceConstruct", answer="list(call.inputs)[:-1]"), tmp_path, monkeypatch
    )
    x = helper.make_tensor_value_info("x", F, [2, 8])
    s = helper.make_tensor_sequence_value_info("s", F, None)
    nodes = [
        helper.make_node("Sin", ["x"], ["t"]),
        helper.make_node("SequenceConstruct", ["x", "t"], ["s"], name="both"),
    ]
    graph = helper.make_graph(nodes, "m", [x], [s])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    result, verdict = only(check(tmp_path / "m.onnx", ["onnxruntime"]))
    assert result.outcome is Outcome.MISMATCH
    assert verdict.word is VerdictStatus.INCONCLUSIVE, verdict.reason
    assert "the reference is disputed" in verdict.reason


def test_an_oracle_that_is_blind_to_what_was_changed_does_not_call_two_models_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine on the new file gives what a wrong evaluation of the old one gives: nobody else had answered the old one."""
    monkeypatch.chdir(tmp_path)
    for name, alpha in (("old", 2.0), ("new", 1.0)):
        node = helper.make_node("Elu", ["x"], ["y"], name="curve", alpha=alpha)
        save(tmp_path / f"{name}.onnx", [node], {"x": (F, [4, 8])}, {"y": (F, [4, 8])})
    blind = "np.where(call.inputs[0] > 0, call.inputs[0], np.exp(call.inputs[0]) - 1).astype(call.inputs[0].dtype)"
    start_workers_with(BROKEN.format(operator="Elu", answer=blind), tmp_path, monkeypatch)
    checked = assay.check("new.onnx", reference="old.onnx", flows=["onnxruntime"], measure=False)
    change, verify = checked.judgement.verdicts
    assert verify.word is VerdictStatus.PASS
    assert change.word is VerdictStatus.INCONCLUSIVE
    assert change.reason.startswith(
        "the reference is disputed: onnxruntime-disable and reference-f64, which answers both files alike, differ on one of them; they "
        "part at node 'curve (Elu)'; to decide it, "
    )


def test_a_limit_that_no_engine_keeps_disputes_no_reference(model: Path) -> None:
    """A witness is judged by what its arithmetic allows, and not by what the user allows the engine under test."""
    options = CheckOptions(
        models=(model,), flows=("onnxruntime", "openvino-f32"), rtol=1e-12, atol=0.0, only_kind="verify"
    )
    result, verdict = only(run_check(options))
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.FAIL), verdict.reason
    assert verdict.reason.endswith("; reference-f64 and onnxruntime-disable agree")


def test_what_is_right_by_the_other_reading_of_the_standard_is_not_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """7 elements by a scale of 1.5 are 10: places follow from 1.5, or from 10 / 7."""
    monkeypatch.chdir(tmp_path)
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear", name="up")
    scales = {"scales": np.asarray([1.0, 1.5], np.float32)}
    path = save(tmp_path / "m.onnx", [node], {"x": (F, [1, 7])}, {"y": (F, [1, 10])}, scales)
    options = CheckOptions(models=(path,), flows=("reference",), options={"reading": "other"}, only_kind="verify")
    result, verdict = only(run_check(options))
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.INCONCLUSIVE)
    assert verdict.reason.startswith(
        "the standard is silent (Resize: whether the length of the result is rounded before"
    )
    assert "reference is right by the other reading, and differs from reference-f64" in verdict.reason


@pytest.mark.parametrize(
    ("steering", "options"),
    [
        (("", "s"), {"flows": ("faulty-lie",)}),
        (("", "", "n"), {"flows": ("onnxruntime",), "rtol": 1e-12, "atol": 0.0}),
    ],
    ids=["scales, derived limits", "sizes, chosen limits"],
)
def test_a_resize_whose_readings_are_one_excuses_no_engine(
    steering: tuple[str, ...], options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the limits under which an answer is wrong: wider ones find it right by any reading."""
    monkeypatch.chdir(tmp_path)
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("Mul", ["e", "k"], ["m"]),
        helper.make_node("Resize", ["m", *steering], ["r"], mode="nearest"),
        helper.make_node("Relu", ["r"], ["y"]),
    ]
    lengths = {"s": np.asarray([1.0, 2.0], np.float32), "n": np.asarray([4, 20], np.int64)}
    stated = {"k": np.asarray([8.0], np.float16), **{name: lengths[name] for name in steering if name}}
    half = onnx.TensorProto.FLOAT16
    path = save(tmp_path / "m.onnx", nodes, {"x": (half, [4, 10])}, {"y": (half, [4, 20])}, stated)
    result, verdict = only(run_check(CheckOptions(models=(path,), only_kind="verify", **options)))
    assert (result.outcome, verdict.word) == (Outcome.MISMATCH, VerdictStatus.FAIL)
