"""Which cases a run takes, and that taking none is never silent."""

from __future__ import annotations

from collections import Counter

import pytest

from assay.core.case import Case
from assay.core.model import Model, TensorSpec
from assay.errors import NothingSelected, UsageError
from assay.pipeline.suite_cases.suite_select import Selection, parse_shard, select, share_of


def _case(name: str, dtype: str = "float32") -> Case:
    return Case(name, Model(name, "", "", inputs=(TensorSpec("x", dtype, (2,)),)))


CASES = [_case("operators/conv2d-a"), _case("operators/conv1d-b", "float16"), _case("onnx-node/test_conv", "int64")]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (Selection(), ["conv2d-a", "conv1d-b", "test_conv"]),
        (Selection(filters=("conv*",)), ["conv2d-a", "conv1d-b"]),
        (Selection(filters=("onnx-node/*",)), ["test_conv"]),
        (Selection(filters=("conv2d-a", "test_*")), ["conv2d-a", "test_conv"]),
        (Selection(dtypes=("float16", "int64")), ["conv1d-b", "test_conv"]),
    ],
)
def test_globs_and_types(wanted: Selection, names: list[str]) -> None:
    assert [case.name.partition("/")[2] for case in select(CASES, wanted)] == names


def test_only_takes_the_case_of_one_job_whatever_else_is_asked() -> None:
    wanted = Selection(filters=("nothing",))
    assert select(CASES, wanted, only="onnx-node/test_conv|flow|verify") == [CASES[2]]


@pytest.mark.parametrize("only", ["test_conv", "test_conv|flow|verify", "onnx-node/test_convv|flow|verify"])
def test_a_job_that_there_is_not_is_named_as_only_takes_it(only: str) -> None:
    with pytest.raises(NothingSelected, match=r"CASE\|FLOW\|KIND, the nearest CASE is 'onnx-node/test_conv'; --filter"):
        select(CASES, Selection(), only=only)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Selection(filters=("conv3d*",)), r"--filter conv3d\* matches none of 3 cases; the nearest name is 'conv"),
        (Selection(dtypes=("int8",)), "no case has --dtype int8; the types here are float16, float32, int64"),
    ],
)
def test_a_selection_of_nothing_fails(wanted: Selection, told: str) -> None:
    with pytest.raises(NothingSelected, match=told):
        select(CASES, wanted)


def test_shards_divide_every_case_exactly_once_and_by_name_alone() -> None:
    cases = [_case(f"operators/{number}") for number in range(500)]
    shares = [{case.name for case in select(cases, Selection(shard=(number, 4)))} for number in (1, 2, 3, 4)]
    assert Counter(name for share in shares for name in share) == Counter(case.name for case in cases)
    assert min(map(len, shares)) > 90
    assert [case.name for case in select(cases[::2], Selection(shard=(2, 4)))] == [
        case.name for case in cases[::2] if case.name in shares[1]
    ]
    assert share_of("operators/7", 4) == 2, (
        "the share of a name must never change: shards of two machines would overlap"
    )


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0", "\u00b2/4"])
def test_a_share_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--shard"):
        parse_shard(text)
