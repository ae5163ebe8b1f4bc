"""Random quantized nets (QDQ) of 3 to 8 layers, and a plain numpy evaluation of them that has nothing in common with the oracle.

The scales are powers of two (then sums and quotients are exact, and many values lie on a rounding tie) or any numbers. The evaluation is in
double; a `Fault` makes one of its roundings wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]
SIZE = 8
LAYERS = ("conv", "conv", "depthwise", "gemm", "add", "average", "max", "concat", "mul", "global")


@dataclass(frozen=True)
class Fault:
    """A rounding mode or bounds of one QuantizeLinear, by what it gives."""

    output: str = ""
    mode: str = "even"
    low: int = 0
    high: int = 0


@dataclass
class Net:
    """A graph that is being built, and what its values are for one calibrating input."""

    random: np.random.Generator
    dyadic: bool
    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)
    grids: dict[str, tuple[str, str]] = field(default_factory=dict)

    def keep(self, name: str, array: Any) -> str:
        self.weights[name] = self.values[name] = np.asarray(array)
        return name

    def add(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        output = f"v{len(self.nodes)}"
        node = helper.make_node(kind, list(inputs), [output], name=f"{kind}_{len(self.nodes)}", **attributes)
        self.nodes.append(node)
        self.values[output] = step(node, [self.values[name] for name in inputs], Fault())
        return output

    def scale(self, largest: Any, most: float) -> Array:
        exact = np.maximum(np.asarray(largest, np.float64), 1e-3) / most * self.random.uniform(0.6, 1.2)
        return (2.0 ** np.rint(np.log2(exact)) if self.dyadic else exact).astype(np.float32)

    def quantized(self, name: str) -> str:
        """Onto a grid and back."""
        value = self.values[name]
        unsigned = value.min() >= 0 and self.random.random() < 0.5
        dtype = np.uint8 if unsigned else np.int8
        zero = int(self.random.integers(-20, 21)) if self.random.random() < 0.4 else 0
        zero = max(zero, 0) if unsigned else zero
        scale = self.keep(f"{name}_scale", self.scale(np.abs(value).max(), 255 if unsigned else 127))
        grid = (scale, self.keep(f"{name}_zero", dtype(zero)))
        back = self.add("DequantizeLinear", [self.add("QuantizeLinear", [name, *grid]), *grid])
        self.grids[back] = grid
        return back

    def weighted(self, shape: tuple[int, ...], axis: int, x: str) -> list[str]:
        """A weight on its grid, per tensor or per channel, and a bias on the grid of the products, or none."""
        name = f"w{len(self.nodes)}"
        drawn = self.random.normal(size=shape) / math.sqrt(math.prod(shape) / shape[axis])
        across = tuple(number for number in range(len(shape)) if number != axis)
        per_channel = self.random.random() < 0.5
        scale = self.scale(np.abs(drawn).max(axis=across) if per_channel else np.abs(drawn).max(), 127)
        spread = scale.reshape([-1 if number == axis else 1 for number in range(len(shape))]) if per_channel else scale
        whole = np.clip(np.rint(drawn / spread), -127, 127).astype(np.int8)
        parts = [self.keep(f"{name}_whole", whole), self.keep(f"{name}_scale", scale)]
        parts.append(self.keep(f"{name}_zero", np.zeros(scale.shape, np.int8)))
        parts_added = [self.add("DequantizeLinear", parts, **({"axis": axis} if per_channel else {}))]
        if self.random.random() < 0.7:
            steps = (self.weights[self.grids[x][0]] * scale).astype(np.float32)
            bias = np.rint(self.random.normal(size=shape[axis]) * 0.3 / steps).astype(np.int32)
            parts = [self.keep(f"{name}_bias", bias), self.keep(f"{name}_bias_scale", steps)]
            parts_added.append(self.add("DequantizeLinear", parts, **({"axis": 0} if per_channel else {})))
        return parts_added

    def layer(self, kind: str, x: str, others: Sequence[str]) -> str:
        """What it gives before its grid; `x` itself where it does not fit."""
        shape = self.values[x].shape
        alike = [other for other in others if self.values[other].shape == shape and other != x]
        if kind in ("conv", "depthwise") and len(shape) == 4:
            group = shape[1] if kind == "depthwise" else 1
            out = shape[1] if group > 1 else int(self.random.integers(2, 7))
            size = int(self.random.choice([1, 3])) if shape[2] > 2 else 1
            weights = self.weighted((out, shape[1] // group, size, size), 0, x)
            return self.add("Conv", [x, *weights], group=group, kernel_shape=[size] * 2, pads=[size // 2] * 4)
        if kind == "gemm" and len(shape) == 2:
            return self.add("Gemm", [x, *self.weighted((shape[1], int(self.random.integers(3, 9))), 1, x)])
        if kind in ("add", "mul") and alike:
            return self.add(kind.capitalize(), [x, str(self.random.choice(alike))])
        if kind == "concat" and alike and len(shape) == 4:
            return self.add("Concat", [x, str(self.random.choice(alike))], axis=1)
        if kind in ("average", "max") and len(shape) == 4 and shape[2] > 2:
            size = int(self.random.choice([2, 3]))
            pads = [size // 2] * 4 if size == 3 else [0] * 4
            more = {"count_include_pad": int(self.random.integers(0, 2))} if kind == "average" else {}
            name = "AveragePool" if kind == "average" else "MaxPool"
            return self.add(name, [x], kernel_shape=[size] * 2, strides=[2] * 2, pads=pads, **more)
        if kind == "global" and len(shape) == 4:
            return self.add("Flatten", [self.quantized(self.add("GlobalAveragePool", [x]))])
        return x


def build(seed: int, dyadic: bool) -> tuple[onnx.ModelProto, list[dict[str, Array]]]:
    """A net, and one to four samples of its input "x"."""
    random = np.random.default_rng([seed, dyadic])
    net = Net(random, dyadic)
    shape = (1, int(random.integers(1, 5)), SIZE, SIZE)
    net.values["x"] = random.normal(size=shape)
    made = [net.quantized("x")]
    for _ in range(int(random.integers(3, 9))):
        x = made[-1]
        given = net.layer(str(random.choice(LAYERS)), x, made)
        if given == x:
            continue
        if given in net.grids or net.nodes[-1].op_type == "Flatten":
            net.grids[given] = net.grids[net.nodes[-1].input[0]]
            made.append(given)
            continue
        given = net.add("Relu", [given]) if random.random() < 0.5 else given
        made.append(net.quantized(given))
    if len(made) == 1:
        made.append(net.quantized(net.layer("conv", made[0], made)))
    dims = list(net.values[made[-1]].shape)
    graph = helper.make_graph(
        net.nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info(made[-1], TensorProto.FLOAT, dims)],
        [numpy_helper.from_array(array, name) for name, array in net.weights.items()],
    )
    model = onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    )
    samples = [{"x": random.normal(size=shape).astype(np.float32)} for _ in range(int(random.integers(1, 5)))]
    return model, samples


def evaluate(
    model: onnx.ModelProto, sample: Mapping[str, Array], fault: Fault = Fault(), ties: Mapping[str, str] | None = None
) -> dict[str, Array]:
    """The outputs, in double until the last. `ties` names the rounding of a QuantizeLinear, by what it gives, where it is another."""
    values: dict[str, Array] = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values.update({name: array.astype(np.float64) for name, array in sample.items()})
    for node in model.graph.node:
        given = [values[input_name] for input_name in node.input if input_name]
        values[node.output[0]] = step(node, given, fault, (ties or {}).get(node.output[0], "even"))
    return {value.name: values[value.name].astype(np.float32) for value in model.graph.output}


def step(node: Any, given: list[Array], fault: Fault, ties: str = "even") -> Array:
    attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    x = given[0]
    match node.op_type:
        case "QuantizeLinear":
            return _grid(x, given[1], given[2], fault if fault.output == node.output[0] else Fault(), ties)
        case "DequantizeLinear":
            shape = [-1 if number == attributes.get("axis", 1) else 1 for number in range(x.ndim)]
            scale, *zero = (array.astype(np.float64).reshape(shape if array.size > 1 else ()) for array in given[1:])
            scaled: Array = (x.astype(np.float64) - (zero[0] if zero else 0.0)) * scale
            return scaled
        case "Conv":
            return _conv(x, given[1], given[2] if len(given) > 2 else None, attributes)
        case "Gemm":
            return np.asarray(x @ given[1] + (given[2] if len(given) > 2 else 0.0))
        case "MaxPool" | "AveragePool":
            return _pool(x, attributes, node.op_type == "MaxPool")
        case "GlobalAveragePool":
            return np.asarray(x.mean(axis=(2, 3), keepdims=True))
    simple = {"Add": np.add, "Mul": np.multiply}
    if node.op_type in simple:
        return np.asarray(simple[node.op_type](x, given[1]))
    moved = {
        "Concat": lambda: np.concatenate(given, axis=attributes.get("axis", 0)),
        "Flatten": lambda: x.reshape(x.shape[0], -1),
        "Relu": lambda: np.maximum(x, 0.0),
        "Identity": lambda: x,
    }
    return np.asarray(moved[node.op_type]())


ROUNDINGS: dict[str, Callable[[Array, float], Array]] = {
    "even": lambda steps, zero: np.rint(steps),
    "even after the zero point": lambda steps, zero: np.rint(steps + zero) - zero,
    "away": lambda steps, zero: _away(steps),
    "away after the zero point": lambda steps, zero: _away(steps + zero) - zero,
    "truncated": lambda steps, zero: np.trunc(steps),
}
"""Whole numbers, without the zero point."""


def _away(steps: Array) -> Array:
    return np.asarray(np.copysign(np.floor(np.abs(steps) + 0.5), steps))


def _grid(x: Array, scale: Array, zero: Array, fault: Fault, ties: str) -> Array:
    steps = x.astype(np.float64) / scale.astype(np.float64)
    mode = ties if fault.mode == "even" else fault.mode
    rounded = ROUNDINGS[mode](steps, float(zero))
    info = np.iinfo(zero.dtype)
    whole = np.clip(rounded + float(zero), info.min + fault.low, info.max + fault.high)
    return np.asarray(whole.astype(np.int64).astype(zero.dtype))  # what is too large wraps round


def _windows(x: Array, attributes: Mapping[str, Any], fill: float) -> Array:
    top, left, bottom, right = attributes.get("pads", [0] * 4)
    rows, columns = attributes.get("strides", [1, 1])
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    return sliding_window_view(padded, tuple(attributes["kernel_shape"]), axis=(2, 3))[:, :, ::rows, ::columns]


def _conv(x: Array, w: Array, bias: Array | None, attributes: Mapping[str, Any]) -> Array:
    group = attributes.get("group", 1)
    windows = _windows(x, attributes, 0.0)
    parts = [
        np.einsum("nchwij,ocij->nohw", part, weight)
        for part, weight in zip(np.split(windows, group, axis=1), np.split(w, group, axis=0), strict=True)
    ]
    columns = np.concatenate(parts, axis=1)
    return columns if bias is None else np.asarray(columns + bias.reshape(1, -1, 1, 1))


def _pool(x: Array, attributes: Mapping[str, Any], largest: bool) -> Array:
    if largest:
        return np.asarray(_windows(x, attributes, -np.inf).max(axis=(4, 5)))
    sums = _windows(x, attributes, 0.0).sum(axis=(4, 5))
    if attributes.get("count_include_pad"):
        return np.asarray(sums / math.prod(attributes["kernel_shape"]))
    return np.asarray(sums / _windows(np.ones_like(x), attributes, 0.0).sum(axis=(4, 5)))
