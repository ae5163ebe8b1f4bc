"""Models of rows that are alone and together."""

import numpy as np
from onnx import helper, numpy_helper

WEIGHT = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
LOW = -1e30
ROWS_ALONE = [helper.make_node("MatMul", ["x", "w"], ["y"])]
COLUMNS_ALONE = [helper.make_node("MatMul", ["v", "x"], ["y"])]
COLUMNS_TOGETHER = [
    helper.make_node("ReduceMean", ["x"], ["m"], axes=[1]),
    helper.make_node("Sub", ["x", "m"], ["d"]),
    helper.make_node("Add", ["d", "x"], ["e"]),
    helper.make_node("MatMul", ["v", "e"], ["y"]),
]
ROWS_TOGETHER = [
    helper.make_node("ReduceMean", ["x"], ["m"], axes=[0]),
    helper.make_node("Sub", ["x", "m"], ["d"]),
    helper.make_node("MatMul", ["d", "w"], ["p"]),
    helper.make_node("Add", ["p", "one"], ["y"]),
]
BATCH_TO_ONE_ROW = [
    helper.make_node("ReduceMean", ["x"], ["m"], axes=[0], keepdims=1),
    helper.make_node("MatMul", ["m", "w"], ["y"]),
]

TWO_OF_ONE_ROW = [
    helper.make_node("MatMul", ["x", "w"], ["p"]),
    helper.make_node("Concat", ["p", "p"], ["c"], axis=1),
    helper.make_node("Reshape", ["c", "pairs"], ["y"]),
]
TOGETHER_BESIDE_A_MASK = [
    *ROWS_TOGETHER[:3],
    helper.make_node("Add", ["p", "one"], ["q"]),
    helper.make_node("Where", ["seen", "q", "low"], ["y"]),
]
STATE_OF_ONE_ROW = [
    helper.make_node("Unsqueeze", ["x", "first"], ["steps"]),
    helper.make_node("RNN", ["steps", "input", "hidden", "", "", "state"], ["", "last"], hidden_size=2),
    helper.make_node("Squeeze", ["last", "first"], ["gone"]),
    helper.make_node("Mul", ["gone", "none"], ["nothing"]),
    helper.make_node("MatMul", ["x", "w"], ["p"]),
    helper.make_node("Add", ["p", "nothing"], ["y"]),
]
STORED = [
    numpy_helper.from_array(WEIGHT, "w"),
    numpy_helper.from_array(WEIGHT.T.copy(), "v"),
    numpy_helper.from_array(np.ones(1, np.float32), "one"),
    numpy_helper.from_array(np.array([-1, 2], np.int64), "pairs"),
    numpy_helper.from_array(np.array([0], np.int64), "first"),
    numpy_helper.from_array(np.zeros(1, np.float32), "none"),
    numpy_helper.from_array(np.array([True, False]), "seen"),
    numpy_helper.from_array(np.full(1, LOW, np.float32), "low"),
    numpy_helper.from_array(np.ones((1, 2, 3), np.float32), "input"),
    numpy_helper.from_array(np.ones((1, 2, 2), np.float32), "hidden"),
    numpy_helper.from_array(np.zeros((1, 1, 2), np.float32), "state"),
]
