"""Small graphs in which every mutation operator has a place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

Node = helper.make_node
RNG = np.random.default_rng(3)


def weight(*shape: int, scale: float = 0.5) -> np.ndarray:
    return (scale * np.random.default_rng(sum(shape) + len(shape)).normal(size=shape)).astype(np.float32)


def model(
    nodes: Sequence[NodeProto],
    inputs: dict[str, tuple[int, list[int | str]]],
    outputs: dict[str, tuple[int, list[int | str] | None]],
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 18,
    learning: int = 0,
) -> ModelProto:
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(name, kind, shape) for name, (kind, shape) in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()],
    )
    domains = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("ai.onnx.ml", learning)] if learning else [])
    made = helper.make_model(graph, opset_imports=domains, ir_version=10)
    made = onnx.shape_inference.infer_shapes(made, data_prop=True)
    del made.graph.value_info[:]
    onnx.checker.check_model(made)
    return made


F, I64 = TensorProto.FLOAT, TensorProto.INT64


def convolutions() -> ModelProto:
    nodes = [
        Node("Conv", ["x", "w1", "b1"], ["c1"], name="conv1", pads=[1, 1, 1, 1]),
        Node("BatchNormalization", ["c1", "s", "b", "m", "v"], ["n1"], name="norm"),
        Node("Relu", ["n1"], ["r1"], name="relu"),
        Node("Conv", ["r1", "w1b", "b1"], ["c2"], name="conv2", dilations=[2, 2], pads=[2, 2, 2, 2]),
        Node("Add", ["c2", "r1"], ["sum"], name="residual"),
        Node("MaxPool", ["sum"], ["p1"], name="max", kernel_shape=[3, 3], strides=[2, 2]),
        Node("AveragePool", ["p1"], ["p2"], name="average", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        Node("Resize", ["p2", "", "scales"], ["z"], name="resize", mode="linear"),
        Node("Resize", ["z", "", "scales"], ["zn"], name="nearest", mode="nearest"),
        Node("Resize", ["zn", "", "ones"], ["zc"], name="same", mode="cubic"),
        Node("ConvTranspose", ["zc", "wt"], ["t"], name="up", auto_pad="SAME_UPPER", strides=[2, 2]),
        Node("DepthToSpace", ["t"], ["d"], name="blocks", blocksize=2),
        Node("InstanceNormalization", ["d", "is", "ib"], ["in"], name="instance"),
        Node("Clip", ["in", "low", "high"], ["y"], name="clip"),
    ]  # fmt: skip
    constants = {
        "w1": weight(8, 8, 3, 3), "w1b": weight(8, 8, 3, 3, scale=0.3), "b1": weight(8), "s": weight(8) + 1, "b": weight(8),
        "m": weight(8, scale=0.1), "v": np.abs(weight(8)) + 0.2, "scales": np.array([1, 1, 2, 2], np.float32),
        "ones": np.array([1, 1, 1.5, 1.5], np.float32), "wt": weight(8, 8, 3, 3), "is": weight(2) + 2, "ib": weight(2),
        "low": np.array(-0.5, np.float32), "high": np.array(1.5, np.float32),
    }  # fmt: skip
    return model(nodes, {"x": (F, ["N", 8, 12, 12])}, {"y": (F, None)}, constants)


def attention() -> ModelProto:
    nodes = [
        Node("Add", ["x", "table"], ["h"], name="position"),
        Node("LayerNormalization", ["h", "s", "b"], ["n"], name="norm"),
        Node("MatMul", ["n", "wq"], ["q"], name="query"),
        Node("Add", ["q", "bq"], ["qb"], name="bias"),
        Node("Reshape", ["qb", "heads"], ["qh"]),
        Node("Transpose", ["qh"], ["qt"], name="split-heads", perm=[0, 2, 1, 3]),
        Node("Transpose", ["qt"], ["kt"], name="keys", perm=[0, 1, 3, 2]),
        Node("MatMul", ["qt", "kt"], ["scores"], name="scores"),
        Node("Add", ["scores", "mask"], ["masked"], name="mask"),
        Node("Softmax", ["masked"], ["p"], name="softmax"),
        Node("MatMul", ["p", "qt"], ["o"], name="values"),
        Node("Transpose", ["o"], ["ot"], name="merge-heads", perm=[0, 2, 1, 3]),
        Node("Reshape", ["ot", "flat"], ["of"]),
        Node("Div", ["of", "root2"], ["e0"]),
        Node("Erf", ["e0"], ["e1"], name="erf"),
        Node("Add", ["e1", "one"], ["e2"]),
        Node("Mul", ["of", "e2"], ["g"], name="gelu"),
        Node("Slice", ["g", "from", "to", "axis"], ["y0"], name="slice"),
        Node("Sigmoid", ["y0"], ["y"], name="sigmoid"),
        Node("LeakyRelu", ["g"], ["l"], name="leaky"),
        Node("CumSum", ["l", "cumaxis"], ["z"], name="cumsum"),
    ]  # fmt: skip
    constants = {
        "table": weight(8, 8), "s": weight(8) + 1, "b": weight(8), "wq": weight(8, 8), "bq": weight(8),
        "heads": np.array([0, 0, 2, 4], np.int64), "flat": np.array([0, 0, 8], np.int64),
        "mask": np.triu(np.full((8, 8), -1e4, np.float32), 1), "root2": np.array(2**0.5, np.float32),
        "one": np.array(1, np.float32), "from": np.array([1], np.int64), "to": np.array([5], np.int64),
        "axis": np.array([1], np.int64), "cumaxis": np.array(1, np.int64),
    }  # fmt: skip
    return model(nodes, {"x": (F, ["N", 8, 8])}, {"y": (F, None), "z": (F, None)}, constants)


def indices() -> ModelProto:
    nodes = [
        Node("Gather", ["table", "ids"], ["e"], name="embedding"),
        Node("Shape", ["ids"], ["shape"], name="shape"),
        Node("Mul", ["shape", "three"], ["longer"], name="length"),
        Node("Cast", ["longer"], ["lf"], to=F),
        Node("ReduceSum", ["lf"], ["total"], name="total", keepdims=0),
        Node("ReduceMean", ["e", "last"], ["mean"], name="mean"),
        Node("ArgMax", ["e"], ["a"], name="argmax", axis=2, keepdims=0),
        Node("TopK", ["e", "k"], ["top", "where"], name="topk"),
        Node("Greater", ["e", "zero"], ["positive"], name="greater"),
        Node("Where", ["positive", "e", "zero"], ["kept"], name="where"),
        Node("Split", ["kept"], ["s1", "s2"], name="split", axis=2, num_outputs=2),
        Node("Sub", ["s1", "s2"], ["diff"], name="difference"),
        Node("Mul", ["e", "perrow"], ["spread"], name="broadcast"),
        Node("ReduceMax", ["e", "last"], ["largest"], name="largest", keepdims=0),
        Node("Concat", ["diff", "diff"], ["twice"], axis=2),
        Node("Add", ["spread", "total"], ["y00"]),
        Node("Add", ["y00", "twice"], ["y0"]),
        Node("Add", ["y0", "mean"], ["y"], name="sum"),
        Node("Mul", ["e", "big"], ["f"]),
        Node("Cast", ["f"], ["fi"], name="truncate", to=I64),
        Node("Concat", ["s1", "s2"], ["z"], name="concat", axis=2),
    ]  # fmt: skip
    constants = {
        "table": weight(10, 4), "three": np.array([37], np.int64), "last": np.array([2], np.int64), "k": np.array([2], np.int64),
        "zero": np.array(0.0, np.float32), "perrow": np.arange(1, 5, dtype=np.float32).reshape(1, 4, 1),
        "big": np.array(10, np.float32),
    }  # fmt: skip
    return model(
        nodes,
        {"ids": (I64, [1, 4])},
        {
            "y": (F, None),
            "a": (I64, None),
            "where": (I64, None),
            "fi": (I64, None),
            "z": (F, None),
            "top": (F, None),
            "largest": (F, None),
        },
        constants,
    )


def quantized() -> ModelProto:
    u8, i8 = np.uint8, np.int8
    nodes = [
        Node("QuantizeLinear", ["x", "xs", "xz"], ["xq"], name="quantize"),
        Node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"], name="dequantize"),
        Node("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], name="weights", axis=0),
        Node("Conv", ["xd", "wd"], ["y"], name="conv"),
        Node("Add", ["i", "i"], ["j"], name="wrapping"),
        Node("Cast", ["j"], ["k"], name="narrow", to=TensorProto.INT8),
    ]  # fmt: skip
    constants = {
        "xs": np.array(0.02, np.float32), "xz": np.array(128, u8),
        "wq": RNG.integers(-127, 127, (4, 3, 3, 3)).astype(i8), "ws": np.array([0.01, 0.03, 0.02, 0.05], np.float32),
        "wz": np.zeros(4, i8),
    }  # fmt: skip
    return model(
        nodes,
        {"x": (F, [1, 3, 6, 6]), "i": (TensorProto.INT32, [4])},
        {"y": (F, None), "k": (TensorProto.INT8, None), "j": (TensorProto.INT32, None)},
        constants,
    )


def recurrent() -> ModelProto:
    nodes = [
        Node("LSTM", ["x", "W", "R", "B", "", "h0"], ["y", "h", "c"], name="lstm", hidden_size=4),
        Node("GRU", ["x", "W3", "R3", "B3"], ["z", "hz"], name="gru", hidden_size=4),
    ]
    constants = {
        "W": weight(1, 16, 3), "R": weight(1, 16, 4), "B": weight(1, 32), "h0": weight(1, 1, 4),
        "W3": weight(1, 12, 3), "R3": weight(1, 12, 4), "B3": weight(1, 24),
    }  # fmt: skip
    return model(
        nodes, {"x": (F, [5, 1, 3])}, {"y": (F, None), "h": (F, None), "c": (F, None), "z": (F, None)}, constants
    )


def fused() -> ModelProto:
    nodes = [
        Node("Attention", ["q", "q", "q", "mask"], ["a"], name="attention"),
        Node("Gelu", ["a"], ["g"], name="gelu"),
        Node("GridSample", ["g", "grid"], ["y"], name="grid", mode="linear"),
    ]
    constants = {
        "mask": weight(6, 6, scale=4.0),
        "grid": np.random.default_rng(5).uniform(-1.2, 1.2, (1, 5, 5, 2)).astype(np.float32),
    }
    return model(nodes, {"q": (F, [1, 2, 6, 8])}, {"y": (F, None)}, constants, opset=23)


def gelu_by_tanh() -> ModelProto:
    """Whole, and taken apart in two ways behind a sum."""
    nodes = [
        Node("Gelu", ["x"], ["g"], name="whole", approximate="tanh"),
        Node("Add", ["g", "bias"], ["a"], name="bias"),
        Node("Pow", ["a", "three"], ["a3"]),
        Node("Mul", ["a3", "small"], ["as"]),
        Node("Add", ["a", "as"], ["ap"]),
        Node("Mul", ["ap", "root"], ["ai"]),
        Node("Tanh", ["ai"], ["at"], name="cube"),
        Node("Add", ["at", "one"], ["a1"]),
        Node("Mul", ["a", "a1"], ["b"]),
        Node("Mul", ["b", "root"], ["br"]),
        Node("Mul", ["b", "b"], ["b2"]),
        Node("Mul", ["b2", "small"], ["bs"]),
        Node("Add", ["bs", "one"], ["bp"]),
        Node("Mul", ["br", "bp"], ["bi"]),
        Node("Tanh", ["bi"], ["bt"], name="square"),
        Node("Tanh", ["bt"], ["c"], name="plain"),
        Node("Mul", ["b", "c"], ["y"]),
    ]
    numbers = {"three": 3.0, "small": 0.044715, "root": 0.7978845608, "one": 1.0}
    constants = {"bias": weight(6), **{name: np.array(number, np.float32) for name, number in numbers.items()}}
    return model(nodes, {"x": (F, ["N", 6])}, {"y": (F, None)}, constants, opset=20)


def padding() -> ModelProto:
    nodes = [
        Node("Pad", ["x", "pads", "low"], ["a"], name="low"),
        Node("Pad", ["a", "pads"], ["b"], name="zero"),
        Node("Pad", ["b", "pads"], ["c"], name="mirror", mode="reflect"),
        Node("Pad", ["c", "pads"], ["d"], name="border", mode="edge"),
        Node("Pad", ["d", "none"], ["e"], name="nothing"),
        Node("Relu", ["e"], ["y"], name="relu"),
    ]
    constants = {"pads": np.array([0, 1, 0, 2], np.int64), "none": np.zeros(4, np.int64), "low": np.float32(3.0)}
    return model(
        nodes,
        {"x": (F, ["N", 5])},
        {"y": (F, None)},
        {name: np.asarray(constant) for name, constant in constants.items()},
    )


ALL = {
    build.__name__: build
    for build in (convolutions, attention, indices, quantized, recurrent, fused, gelu_by_tanh, padding)
}


def inputs_of(made: ModelProto, seed: int = 0, batch: int = 2) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    feeds = {}
    for value in made.graph.input:
        shape = [d.dim_value or batch for d in value.type.tensor_type.shape.dim]
        kind = value.type.tensor_type.elem_type
        if kind == F:
            feeds[value.name] = (2 * rng.normal(size=shape)).astype(np.float32)
        else:
            top = 9 if kind in (I64, TensorProto.DOUBLE) else 2**31 - 1
            feeds[value.name] = rng.integers(0, top + 1, shape).astype(helper.tensor_dtype_to_np_dtype(kind))
    return feeds


def run(model: ModelProto, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What comes out of it on ONNX Runtime, by name."""
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # threads of hundreds of sessions took longer than the models
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))
