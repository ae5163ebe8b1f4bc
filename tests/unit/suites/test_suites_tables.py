"""The tables of operators and models: unique, seeded, as many as promised, and every line one that torch understands."""

from __future__ import annotations

import ast
import re
from collections import Counter

import numpy as np
import pytest
import torch

from assay.commands.run import find_suites
from assay.core.dtype import dtype_name
from assay.errors import AssayError
from assay.suites.build_torch import as_tensor, build
from assay.suites.models import FULL, TABLE, Models, full
from assay.suites.operators import TABLES, Operators
from assay.suites.operators import _authored as operators
from assay.suites.random_tensors import random_tensors
from assay.suites.torch_case import RandomArg, key_of

PEER = [
    "abs",
    "adaptive_avg_pool1d",
    "adaptive_max_pool2d",
    "add",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "cat",
    "ceil",
    "clamp",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "div",
    "elu",
    "embedding",
    "embedding_bag",
    "exp",
    "expand",
    "floor",
    "floor_divide",
    "gelu",
    "glu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "index_put",
    "index_select",
    "leaky_relu",
    "linear",
    "log",
    "log10",
    "log1p",
    "log2",
    "logsigmoid",
    "lstm",
    "masked_fill",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "mean",
    "median",
    "mul",
    "neg",
    "permute",
    "pow",
    "prelu",
    "relu",
    "reshape",
    "round",
    "rsqrt",
    "select",
    "sigmoid",
    "silu",
    "slice",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "sub",
    "tanh",
    "threshold",
    "transpose",
    "trunc",
    "unsqueeze",
    "upsample_bilinear",
    "upsample_nearest",
    "view",
]
LACKING = [
    "softmax",
    "log_softmax",
    "matmul",
    "bmm",
    "addmm",
    "layer_norm",
    "group_norm",
    "instance_norm2d",
    "batch_norm2d",
    "rms_norm",
    "attention",
    "multihead_attention",
    "topk",
    "sort",
    "where",
    "gather",
    "scatter",
    "cumsum",
    "pad_mode",
    "sin",
    "cos",
    "erf",
    "grid_sample",
    "rnn",
    "gru",
    "one_hot",
    "tril",
    "triu",
    "roll",
    "flip",
    "meshgrid",
    "nonzero",
    "bitwise_and",
    "eq",
    "logical_and",
    "sum",
    "pixel_shuffle",
    "unfold",
    "fold",
    "cdist",
]


def test_there_are_as_many_as_promised_and_all_that_the_peer_has() -> None:
    names = {table.name for table in TABLES}
    assert len(TABLES) == len(names) >= 120
    assert set(PEER) | set(LACKING) <= names
    assert len(operators()) >= 2500
    tiers = Counter(name.split("-")[2] for name in operators())
    assert set(tiers) == {"smoke", "sample", "edge", "dynamic", "strided", "channels_last"}
    assert tiers["dynamic"] >= 200
    assert len(TABLE) >= 30


@pytest.mark.parametrize("suite", [Operators(), Models()])
def test_cases_are_the_same_each_time_and_apart(suite: Operators | Models) -> None:
    cases = list(suite.cases(seed=3))
    assert cases == list(suite.cases(seed=3))
    assert len({case.name for case in cases}) == len(cases)
    assert all(case.name.startswith(f"{suite.name}/") and "|" not in case.name for case in cases)
    assert all(case.inputs.seed == 3 for case in cases)


def test_another_seed_or_line_is_another_place_in_the_cache() -> None:
    first, second = list(operators().values())[:2]
    keys = {key_of(first, 0, {}), key_of(first, 1, {}), key_of(second, 0, {}), key_of(first, 0, {"torch": "2"})}
    assert len(keys) == 4
    assert key_of(first, 0, {}) == key_of(first, 0, {})


def test_every_expression_is_one_and_uses_every_input() -> None:
    for case in operators().values():
        names = {node.id for node in ast.walk(ast.parse(case.call, mode="eval")) if isinstance(node, ast.Name)}
        if case.module:
            built = {node.id for node in ast.walk(ast.parse(case.module, mode="eval")) if isinstance(node, ast.Name)}
            assert built <= {"nn", *case.attributes}, case.name
            names |= built & set(case.attributes)
        assert names - {"torch", "F", "m", "tuple"} == {spec.name for spec in case.inputs} | set(case.attributes), (
            case.name
        )


PUBLISHED = {
    "alexnet": 61_100_840,
    "squeezenet": 1_235_496,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "resnext50": 25_028_904,
    "wide_resnet50": 68_883_240,
    "mobilenet_v2": 3_504_872,
    "vit_b_16": 86_567_656,
    "bert_base": 109_482_240,
}


def test_full_size_is_the_published_number_of_parameters() -> None:
    counted = {}
    for operator in FULL:
        with torch.device("meta"):
            model = getattr(full, operator.factory)(**operator.settings)
        counted[operator.name] = sum(parameter.numel() for parameter in model.parameters())
    assert counted == PUBLISHED
    assert [case.name for case in Models("full").cases(seed=0)] == [f"models/{name}-full" for name in PUBLISHED]
    assert not any(case.name.endswith("-full") for case in Models().cases(seed=0))
    assert Models("full").counted_as != Models().counted_as


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("models:ful", "no variant 'ful'; it has models:full"),
        ("operators:full", "no variant 'full'; write operators"),
        ("nothing:full", "there is no suite 'nothing:full'"),
    ],
)
def test_a_variant_that_a_suite_does_not_have_is_refused(name: str, message: str) -> None:
    with pytest.raises(AssayError, match=re.escape(message)):
        find_suites([name])
    (suite,) = find_suites(["models:full"])
    assert len(list(suite.cases(seed=0))) == len(FULL)


def test_what_a_case_returns_can_be_saved_in_a_program() -> None:
    # torch.export.save refuses the named tuples of torch.sort and its like: such a case could not be made at all.
    for case in {operator.name.split("-")[0]: operator for operator in reversed(operators().values())}.values():
        dtype = getattr(torch, case.dtype)
        inputs = [as_tensor(random_tensors(spec, seed=0, case=case.name)) for spec in case.inputs]
        with torch.no_grad():
            value = build(case).eval().to(dtype)(*inputs)
        assert type(value) in (torch.Tensor, tuple, list), case.name


def test_an_open_length_is_the_first_of_every_input_and_no_index_depends_on_it() -> None:
    opened = [operator for operator in operators().values() if operator.dynamic]
    assert {case.name.split("-")[2] for case in opened} == {"dynamic"}
    for case in opened:
        assert len({drawn.shape[0] for drawn in case.inputs}) == 1, case.name
        assert all(drawn.shape[0] >= 2 and len(drawn.shape) >= 2 for drawn in case.inputs), case.name
    names = {case.name.split("-")[0].partition("/")[2] for case in opened}
    assert {"conv2d", "softmax", "add", "lstm", "matmul"} <= names
    assert not {"gather", "embedding", "index_select", "affine_grid", "split"} & names
    assert all(case.published for case in opened)


@pytest.mark.parametrize(
    "kind", ["normal", "positive", "unit", "wide", "away", "level", "distinct", "nonzero", "probability", "below:5"]
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64", "uint8", "bool"])
def test_values_are_seeded_and_of_their_kind(kind: str, dtype: str) -> None:
    wanted = RandomArg("x", dtype, (4, 16), kind)
    first, again = random_tensors(wanted, seed=1, case="c"), random_tensors(wanted, seed=1, case="c")
    assert first.shape == (4, 16)
    assert dtype_name(first.dtype) == dtype
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != random_tensors(wanted, seed=2, case="c").tobytes()
    if dtype == "bool":
        return
    values = first.astype(np.float64)
    if kind in ("positive", "nonzero"):
        assert (values != 0).all()
    if kind == "distinct" and dtype != "uint8":
        assert len(np.unique(values)) == values.size
    if kind == "below:5":
        assert set(np.unique(values)) <= set(range(5))


def test_the_values_of_a_seed_never_change() -> None:
    values = random_tensors(RandomArg("x", "float32", (3,)), seed=7, case="operators/add")
    assert values.tolist() == pytest.approx([0.5312642, 0.4100636, 0.1463316])
