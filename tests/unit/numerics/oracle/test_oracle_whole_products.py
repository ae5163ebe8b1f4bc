"""Products of whole numbers, beside onnx.reference, which multiplies them as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from assay.numerics.oracle.whole_products import ConvInteger, MatMulInteger
from assay.ports import Tensor


def both(own: type[OpRun], feeds: dict[str, Tensor], **attributes: Any) -> list[Tensor]:
    node = helper.make_node(own.__name__, list(feeds), ["y"], **attributes)
    return [ReferenceEvaluator(node, new_ops=ops).run(None, feeds)[0] for ops in ([own], None)]


def drawn(dtype: str, *shape: int) -> Tensor:
    ends = np.iinfo(dtype)
    return np.random.default_rng(len(shape)).integers(ends.min, ends.max + 1, shape).astype(dtype)


@pytest.mark.parametrize(("x", "w"), [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")])
@pytest.mark.parametrize("zeros", [0, 1, 4])
def test_a_convolution(x: str, w: str, zeros: int) -> None:
    feeds = {"x": drawn(x, 2, 4, 9, 7), "w": drawn(w, 4, 2, 3, 3)}
    if zeros:
        feeds |= {"xz": np.array(7, x), "wz": drawn(w, zeros) if zeros > 1 else np.array(3, w)}
    attributes = {"group": 2, "pads": [1, 0, 1, 2], "strides": [2, 1], "kernel_shape": [3, 3]}
    own, other = both(ConvInteger, feeds, **attributes)
    assert own.dtype == other.dtype == np.int32
    assert np.array_equal(own, other)


def test_a_sum_that_single_precision_does_not_hold() -> None:
    x, w = np.full((1, 600, 1, 1), 255, np.uint8), np.full((1, 600, 1, 1), 255, np.uint8)
    w[0, 0] = 254
    assert both(ConvInteger, {"x": x, "w": w})[0].item() == 599 * 255 * 255 + 254 * 255


@pytest.mark.parametrize("zeros", [(), (np.uint8(3), np.int8(-2)), (np.arange(3, dtype=np.uint8), np.int8(1))])
def test_a_product_of_matrices(zeros: tuple[Any, ...]) -> None:
    a, b = drawn("uint8", 3, 300), drawn("int8", 300, 5)
    feeds = {"a": a, "b": b} | {f"z{at}": np.asarray(array) for at, array in enumerate(zeros)}
    less = a.astype(np.int64) - (np.asarray(zeros[0]).reshape(-1, 1) if zeros else 0)
    right = b.astype(np.int64) - (int(zeros[1]) if zeros else 0)
    node = helper.make_node("MatMulInteger", list(feeds), ["y"])
    product = ReferenceEvaluator(node, new_ops=[MatMulInteger]).run(None, feeds)[0]
    assert product.dtype == np.int32
    assert np.array_equal(product, less @ right)
