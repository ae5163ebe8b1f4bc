"""ONNX Runtime 1.31.1, CPU: Col2Im along one axis with several channels, or along three axes, is wrong where it is dilated.

Expected, by the standard ("behaves similarly to PyTorch's fold"; `dilations`: "dilation value along each spatial axis of the image"):
element k of block n is added to place n * stride + k * dilation - pad of its channel. Got: elements of later channels and axes lie as if
the block were not dilated, without a word; for some images that hold a block an error ("Padded image extent is smaller than the dilated
kernel"). One axis and one channel, and two axes, are right. Found by `assay fuzz --flow onnxruntime` (generator sweep, seed 11) when the
generator learned Col2Im.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def col2im(x: np.ndarray, image: list[int], block: list[int], **attributes: list[int]) -> np.ndarray:  # type: ignore[type-arg]
    """By ONNX Runtime."""
    graph = helper.make_graph(
        [helper.make_node("Col2Im", ["x", "image", "block"], ["y"], **attributes)],
        "col2im",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.asarray(image), "image"), numpy_helper.from_array(np.asarray(block), "block")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    return np.asarray(onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0])


wrong = False
for channels, axes in ((1, 1), (2, 1), (2, 2), (1, 3), (2, 3)):
    # Blocks of two along each axis with dilation 2 in an image of three: one block, whose elements lie at the corners.
    x = np.arange(1, channels * 2**axes + 1, dtype=np.float32).reshape(1, -1, 1)
    due = np.zeros((channels, *[3] * axes), np.float32)
    due[(slice(None), *[slice(None, None, 2)] * axes)] = x.reshape(channels, *[2] * axes)
    given = col2im(x, [3] * axes, [2] * axes, dilations=[2] * axes)[0]
    bad = not np.array_equal(given, due)
    wrong = wrong or bad
    print(
        f"{channels} channels, {axes} axes: {int((given != due).sum())} of {due.size} are off{'  WRONG' if bad else ''}"
    )
sys.exit(int(wrong))
