"""Every operator of the oracle at every version of its schema, beside evaluations that share no code with it: all of them in the slow
tier, a few of each here."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from assay.numerics.oracle import evaluator
from assay.numerics.oracle.reference_classes import reference_classes
from oracle_table.case import OpCase
from oracle_table.comparing import difference
from oracle_table.gen import schemas
from oracle_table.table import Row, row_of

SCHEMAS: dict[str, list[Any]] = defaultdict(list)
for _one in schemas():
    SCHEMAS[_one.name].append(_one)
SMOKE = [
    "Add",
    "BatchNormalization",
    "Cast",
    "Conv",
    "DFT",
    "Gather",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "LSTM",
    "LayerNormalization",
    "MaxPool",
    "Pad",
    "QuantizeLinear",
    "ReduceLogSumExp",
    "Resize",
    "SVMClassifier",
    "ScatterND",
    "SequenceInsert",
    "Softmax",
    "Split",
    "TopK",
    "TreeEnsembleClassifier",
]


def _held(rows: list[Row]) -> None:
    assert sum(sum(row.agreed.values()) for row in rows), "nothing was compared with anything"
    wrong = [text for row in rows for text in row.wrong]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.slow
@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_the_oracle_agrees_with_independent_evaluations(operator: str) -> None:
    rows = [row_of(schema, seed) for schema in SCHEMAS[operator] for seed in (0, 1)]
    if not any(row.cases for row in rows):
        pytest.skip("no recipe: the table in docs/oracle.md says so")
    wrong = [text for row in rows for text in row.wrong]
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize("operator", SMOKE)
def test_a_few_cases_of_operators_that_models_are_made_of(operator: str) -> None:
    _held([row_of(SCHEMAS[operator][-1], at_most=6)])


def test_the_table_is_red_where_an_operator_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnx.reference's GlobalMaxPool, which answers in another rank with one or three spatial axes."""

    def without(**options: Any) -> Any:
        return [
            operator_class
            for operator_class in reference_classes(**options)
            if operator_class.__name__ != "GlobalMaxPool"
        ]

    monkeypatch.setattr(evaluator, "reference_classes", without)
    row = row_of(SCHEMAS["GlobalMaxPool"][-1])
    assert any(
        "GlobalMaxPool-22(float32[2, 3, 5]) <>: own types: shape [2, 1] where [2, 3, 1]" in text for text in row.wrong
    )
    assert any("in double: shape" in text for text in row.wrong)


@pytest.mark.parametrize(
    ("mine", "theirs", "text"),
    [
        (np.float32([1, 2]), np.float64([1, 2]), "dtype float32 where float64"),
        (np.float32([1, 2]), np.float32([[1, 2]]), "shape [2] where [1, 2]"),
        (np.float32([1, 2]), np.float32([1, 2.001]), "2 where 2.00099993"),
        (np.float32([1, np.nan]), np.float32([1, 2]), "nan where 2.0"),
        (np.float32([1, np.inf]), np.float32([1, -np.inf]), "inf where -inf"),
        (np.int64([1, 2]), np.int64([1, 3]), "2 where 3"),
        ([np.int64([1])], [np.int64([1]), np.int64([2])], "1 values where 2"),
        (np.array(["a"], object), np.array(["b"], object), "text 'a' where 'b'"),
        (np.float32([1, np.nan]), np.float32([1 + 1e-7, np.nan]), ""),
    ],
)
def test_what_counts_as_a_difference(mine: Any, theirs: Any, text: str) -> None:
    assert difference(mine, theirs) == text


def test_a_case_is_named_so_that_it_can_be_made_again() -> None:
    case = OpCase("Gather", 13, (np.zeros((2, 3), np.float32), np.array([1])), {"axis": 1})
    assert str(case) == "Gather-13(float32[2, 3], int64[1]=[1]) <axis=1>"
