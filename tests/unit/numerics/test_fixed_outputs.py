"""Which outputs of a model neither an input nor a draw decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from untyped_graphs import graph_of, model_of, node

from assay.numerics.drawn_outputs import fixed_outputs

NEVER, YES = np.asarray(0.0, np.float32), np.asarray(True)


@pytest.mark.parametrize(
    ("nodes", "fixed"),
    [
        ([node("Relu", "x", "y"), node("Shape", "y", "z")], {"z"}),
        ([node("Shape", "x", "s"), node("ConstantOfShape", "s", "m"), node("Not", "m", "z"), node("Relu", "x", "y")], {"z"}),
        ([node("NonZero", "x", "k"), node("Shape", "k", "z"), node("Relu", "x", "y")], set()),
        ([node("Less", "x,c", "b"), node("Cast", "b", "z", to=1), node("Relu", "x", "y")], set()),
        ([node("Mul", "c,c", "z"), node("Relu", "x", "y")], {"z"}),
        ([node("Bernoulli", "c", "z"), node("Relu", "x", "y")], set()),
        ([node("Reshape", "c,x", "r"), node("Shape", "r", "z"), node("Relu", "x", "y")], set()),
    ],
    ids=["sizes", "mask of ones", "sizes that an input decides", "by the inputs at hand", "constants", "drawn", "reshaped by an input"],
)  # fmt: skip
def test_an_output_that_no_input_reaches_is_fixed(nodes: list[onnx.NodeProto], fixed: set[str]) -> None:
    model = model_of(nodes, "y,z", c=NEVER)
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]))
    assert fixed_outputs(model) == fixed


@pytest.mark.parametrize(
    ("sizes", "fixed"), [([2, 3], {"z"}), (["batch", 3], set()), ([None, 3], set()), (None, set())]
)
def test_what_is_made_of_a_free_size_is_not_fixed(sizes: list[Any] | None, fixed: set[str]) -> None:
    count = [node("Shape", "x", "s"), node("ReduceSum", "s", "n", keepdims=0), node("Range", "zero,n,step", "r")]
    model = model_of(
        [*count, node("Less", "r,n", "z"), node("Relu", "x", "y")], "y,z", zero=np.asarray(0), step=np.asarray(1)
    )
    model.graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes))
    assert fixed_outputs(model) == fixed


def test_a_stored_tensor_that_is_an_input_too_is_none() -> None:
    model = model_of([node("Neg", "c", "z"), node("Add", "x,c", "y")], "y,z", inputs="x,c", c=NEVER)
    assert fixed_outputs(model) == {"z"}


def test_what_a_branch_or_a_body_reads_is_followed() -> None:
    branches = {name: graph_of([node("Neg", "x", "n")], "n", inputs="") for name in ("then_branch", "else_branch")}
    model = model_of([node("If", "yes", "z", **branches), node("Relu", "x", "y")], "y,z", yes=YES)
    assert fixed_outputs(model) == set()
