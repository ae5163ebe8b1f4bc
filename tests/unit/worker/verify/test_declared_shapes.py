"""A shape that the model itself declares otherwise needs no witness; where the file may be what is wrong, one is asked."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from assay.core.case import Contract
from assay.core.finding import FindingCode
from assay.core.model import Model, TensorSpec
from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import ModelPart, PartKind
from assay.core.outcome import Outcome
from assay.core.reference import Reference, ReferenceKind
from assay.judge.witnesses import Doubt, doubt_of
from assay.judge.words.finding_text import finding_text
from assay.numerics.compare import compare_outputs
from assay.testing.builders import make_result
from assay.worker.verify.declared_shapes import against_declarations

ORACLE = Reference(ReferenceKind.ORACLE, "reference-f64", "1.23", "reference", "onnxruntime")


def _model(*shape: int | str) -> Model:
    return Model("m", "m.onnx", "0", outputs=(TensorSpec("y", "float32", shape),))


def _doubt(model: Model, seen: tuple[int, ...], due: tuple[int, ...]) -> tuple[FindingCode, Doubt]:
    compared = compare_outputs([{"y": np.ones(seen, np.float32)}], [{"y": np.ones(due, np.float32)}], Contract())
    comparisons, findings = against_declarations(compared, model)
    result = make_result(
        outcome=Outcome.MISMATCH, comparisons=comparisons, findings=findings, reference=ORACLE, witnesses=()
    )
    (code,) = {finding.code for finding in (*findings, *comparisons[0].findings)}
    return code, doubt_of(result)


@pytest.mark.parametrize(
    ("declared", "seen", "due", "certain"),
    [
        ((1, 9), (1, 8), (1, 9), True),
        ((1, "N"), (1, 9, 1), (1, 9), True),
        (("N", 9), (1, 8), (1, 9), True),
        ((1, "N"), (1, 8), (1, 9), False),
        ((1, 8), (1, 8), (1, 9), False),  # the reference is what the file does not declare
        ((1, 7), (1, 8), (1, 9), False),
        (("...",), (1, 8), (1, 9), False),
    ],
)
def test_what_the_file_declares_is_believed_where_the_reference_says_so_too(
    declared: tuple[int | str, ...], seen: tuple[int, ...], due: tuple[int, ...], certain: bool
) -> None:
    wanted = (FindingCode.DECLARED_SHAPE, Doubt.NONE) if certain else (FindingCode.SHAPE, Doubt.REFERENCE)
    assert _doubt(_model(*declared), seen, due) == wanted


def test_both_shapes_are_named_the_declared_one_as_the_file_has_it() -> None:
    compared = compare_outputs([{"y": np.ones((1, 8), np.float32)}], [{"y": np.ones((3, 9), np.float32)}], Contract())
    comparisons, findings = against_declarations(compared, _model("N", 9))
    said = {finding_text(finding) for finding in (*findings, *comparisons[0].findings)}
    assert said == {"Sample 0: output 'y' has shape [1, 8] where [3, 9] is expected, and the model declares [N, 9]."}


def test_a_file_that_contradicts_itself_declares_nothing() -> None:
    odd = ModelFinding(Area.GRAPH, "declared-shape", ModelPart(PartKind.OUTPUT, "y"), ("[1, 9]", "[1, 8]"))
    model = replace(_model(1, 9), contradictions=(odd,))
    assert _doubt(model, (1, 8), (1, 9)) == (FindingCode.SHAPE, Doubt.REFERENCE)
