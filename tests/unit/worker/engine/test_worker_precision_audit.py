"""The actual precision against the requested one, from what backends report and from how near answers come."""

from __future__ import annotations

from collections import Counter

import pytest

from assay.core.comparison import Comparison
from assay.core.engine_info import EngineInfo, Placement
from assay.core.note import NoteCode, noted
from assay.judge.finer_precision import find_higher_precision
from assay.judge.words.finding_text import finding_text
from assay.models.model_precision import ModelPrecision
from assay.worker.engine.precision_audit import find_lower_precision, minor_deviations


def facts(*rows: tuple[str, str] | tuple[str, str, str], weights: dict[str, int] | None = None) -> EngineInfo:
    placed = tuple(Placement(row[0], "CPU", row[1], 1, row[2] if len(row) == 3 else "compute") for row in rows)
    return EngineInfo(placements=placed, weights=weights or {})


def compared(*norms: float) -> tuple[Comparison, ...]:
    return tuple(Comparison("y", "float32", (4,), 1, 4, metrics={"budget_norm": norm}) for norm in norms)


@pytest.mark.parametrize(
    ("asked", "given", "norms", "message"),
    [
        ("int8", facts(("Conv", "float32"), ("QuantizeLinear", "uint8", "cast")), (), "Conv in float32"),
        ("int8", facts(("Conv", "float32"), ("Transpose", "uint8")), (), "Conv in float32"),
        ("int8", facts(("QLinearConv", "uint8"), ("Softmax", "float32")), (), ""),
        ("int8", facts(("Convolution", "float32"), weights={"int8": 2}), (), ""),
        ("int8", facts(("Convolution", "float32"), weights={"float32": 2}), (), "Convolution in float32"),
        ("int8", facts(("Transpose", "float32")), (), ""),
        ("int8", facts(("Conv", "")), (), ""),
        ("int8", EngineInfo(precision="float32"), (), "all is float32"),
        ("int8", EngineInfo(), (), ""),
        ("float16", facts(("Conv", "float32"), ("Cast", "float16", "cast")), (0.1,), "Conv in float32"),
        ("float16", facts(("Conv", "float16"), ("Gemm", "float32")), (0.1,), ""),
        ("float16", facts(("Conv", "float16")), (1e-4, 2e-4), "at least 1250 times closer than float16"),
        ("float16", facts(("Conv", "float16")), (1e-4, 0.1), ""),
        ("float16", facts(("Conv", "float16")), (0.0,), ""),
        ("bfloat16", facts(("Conv", "bfloat16")), (1e-4, 2e-4), "at least 1250 times closer than bfloat16"),
        ("bfloat16", facts(("Conv", "bfloat16")), (2e-3,), ""),  # what cancels in float32, the rest in bfloat16
        ("bfloat16", facts(("Conv", "float16")), (0.1,), "Conv in float16"),
        ("float32", facts(("Conv", "float64")), (1e-9,), ""),
    ],
)
def test_nothing_ran_in_the_promised_type(
    asked: str, given: EngineInfo, norms: tuple[float, ...], message: str
) -> None:
    reason = find_higher_precision(asked, given, compared(*norms))
    assert message in reason
    assert bool(message) == bool(reason)


def own(*kinds: str, products: int = 0, weights: int = 0) -> ModelPrecision:
    """A model with so many products and weights in each of these types."""
    return ModelPrecision(Counter(dict.fromkeys(kinds, products)), Counter(dict.fromkeys(kinds, weights)), set(kinds))


FLOAT = own("float32", products=9, weights=9)
BYTES_GO_IN = ModelPrecision(Counter({"float32": 3}), Counter({"float32": 3}), {"float32", "int8"})
"""An image of uint8, cast to float32 before anything is computed."""


@pytest.mark.parametrize(
    ("asked", "given", "declared", "message"),
    [
        ("float32", facts(("Conv", "bfloat16"), ("Relu", "float32")), FLOAT, "Conv in bfloat16 (the model has none)"),
        ("float32", facts(("Conv", "tf32")), FLOAT, "Conv in tf32"),
        ("float32", facts(("Conv", "float16")), own("float16", products=1), ""),
        ("float32", facts(("Conv", "float16")), own("bfloat16", products=1), ""),
        ("float32", facts(("Conv", "uint8")), FLOAT, "Conv in int8"),
        ("float32", facts(("Conv", "uint8")), BYTES_GO_IN, "Conv in int8 (the model has none)"),
        ("float32", facts(("QLinearConv", "uint8")), own("int8", products=1), ""),
        ("float32", facts(("QLinearConv", "uint8"), ("QGemm", "int8")), own("int8", products=1),
         "QGemm, QLinearConv in int8 (2 of them, and the model has 1)"),
        ("float32", facts(("MaxPool", "uint8"), ("Add", "uint8")), own("int8", products=1), ""),
        ("float32", facts(("MaxPool", "uint8"), ("Add", "uint8")), FLOAT, "Add, MaxPool in int8"),
        ("float32", facts(("Eltwise", "uint8"), ("Conv", "float32")), own("float32", "int64", "bool", products=1), ""),
        ("float32", facts(("Conv", "uint8")), own("float32", "bool"), "Conv in int8"),
        ("float32", facts(("Reorder", "bfloat16", "reformat"), ("Conv", "float32")), FLOAT, ""),
        ("float32", facts(("aten.arange.start_step", "int8"), ("Conv", "float32")), FLOAT, ""),  # it counts rows
        ("float32", facts(("aten.arange.start_step", "float16")), FLOAT, "arange.start_step in float16"),
        ("float16", facts(("Conv", "bfloat16")), own("float16", products=1), "Conv in bfloat16"),
        ("bfloat16", facts(("Conv", "float16")), FLOAT, ""),
        ("int8", facts(("Conv", "int8")), FLOAT, ""),
        ("int8", facts(("MatMul", "int4"), ("Conv", "int8")), FLOAT, "MatMul in int4"),
        ("int8", facts(("MatMul", "int4")), own("int4", products=1), ""),
        ("float32", facts(("MatMul", "int8")), own("int4", products=1), ""),
        ("float32", facts(("Conv", "float32"), weights={"int8": 2}), FLOAT, "weights in int8"),
        ("float32", facts(("Conv", "float32"), weights={"int8": 2}), BYTES_GO_IN, "weights in int8"),
        ("float32", facts(("Conv", "float32"), weights={"float16": 2, "float32": 1}), FLOAT, "weights in float16"),
        ("float32", facts(("Conv", "float32"), weights={"uint8": 2}), own("int8", weights=2), ""),
        ("float32", facts(("Conv", "float32"), weights={"int8": 3}), own("int8", weights=2), "3 of them, and the model has 2"),
        ("float32", facts(("Conv", "float32"), weights={"int32": 2, "bool": 1, "float16": 0}), FLOAT, ""),
        ("int8", facts(("Conv", "float32"), weights={"int8": 2}), FLOAT, ""),
    ],
)  # fmt: skip
def test_coarser_than_promised(asked: str, given: EngineInfo, declared: ModelPrecision, message: str) -> None:
    findings = find_lower_precision(asked, given, lambda: declared)
    assert [finding.kind for finding in findings] == (["precision"] if message else [])
    assert all(message in finding_text(finding) for finding in findings)


def test_the_model_is_not_read_where_nothing_is_coarse() -> None:
    def never() -> ModelPrecision:
        raise AssertionError("the types of the model were asked for")

    assert find_lower_precision("float32", facts(("Conv", "float32")), never) == ()


def test_a_small_share_is_told() -> None:
    (note,) = minor_deviations("float16", facts(("Conv", "float16"), ("Relu", "float32"), ("Gemm", "float32")))
    assert note == noted(NoteCode.FEW_IN_PRECISION, count=1, operators=3, asked="float16", metric="float16")
    assert minor_deviations("float16", facts(("Conv", "float16"), ("Relu", "float32"))) == ()
    assert minor_deviations("float16", facts(("Relu", "float32"))) == ()
    assert minor_deviations("float32", facts(("Conv", "float32"), ("A", "int8"), ("B", "int8"))) == ()
