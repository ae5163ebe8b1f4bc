"""Residual nets of any length with the patterns of `faulty_rewrites` in them, most of which are compiled rightly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.testing.faulty_rewrites import KERNELS, REWRITES

if TYPE_CHECKING:
    from onnx import ModelProto

CHANNELS, SIZE = 8, 12


class PlantedNet:
    """`sites` has for each pattern the names of its nodes, one list for each place where it stands."""

    def __init__(self, nodes: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self.sites: dict[str, list[list[str]]] = {name: [] for name in (*REWRITES, *KERNELS)}
        value = self._conv("x", 3)
        builders = {
            "folded_pad": self._pad, "lost_relu": self._convs, "swapped_scale": self._scale,
            "cancelled_transposes": self._transposes, "lost_middle": self._chain, "wrong_slope": self._leaky,
            "wrong_function": self._softplus,
        }  # fmt: skip
        order = list(builders)
        while len(self._nodes) < nodes - 4:
            self._random.shuffle(order)
            for name in order:
                value = self._residual(value, name, builders[name])
        value = self._op("GlobalAveragePool", [value])
        value = self._op("Flatten", [value])
        self._output = self._op("MatMul", [value, self._weight(CHANNELS, 10)])

    @property
    def model(self) -> ModelProto:
        """Of one input and one output."""
        from onnx import helper

        graph = helper.make_graph(
            self._nodes,
            "planted",
            [helper.make_tensor_value_info("x", 1, [1, 3, SIZE, SIZE])],
            [helper.make_tensor_value_info(self._output, 1, [1, 10])],
            self._weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)

    def _residual(self, value: str, name: str, build: Any) -> str:
        start = len(self._nodes)
        branch, pattern = build(self._conv(value, CHANNELS))
        self.sites[name].append([self._nodes[start + place].name for place in pattern])
        return self._op("Tanh", [self._op("Add", [value, branch])])

    def _op(self, operator: str, reads: list[str], **attributes: Any) -> str:
        from onnx import helper

        name = f"n{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, reads, [name], name=name, **attributes))
        return name

    def _constant(self, array: Any) -> str:
        from onnx import numpy_helper

        name = f"w{len(self._weights)}"
        self._weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def _weight(self, *shape: int) -> str:
        fan_in = int(np.prod(shape[1:])) if len(shape) > 2 else shape[0]
        return self._constant((self._random.normal(size=shape) / np.sqrt(fan_in)).astype(np.float32))

    def _conv(self, value: str, inputs: int) -> str:
        bias = self._constant((0.3 * self._random.normal(size=CHANNELS)).astype(np.float32))
        return self._op(
            "Conv", [value, self._weight(CHANNELS, inputs, 3, 3), bias], kernel_shape=[3, 3], pads=[1, 1, 1, 1]
        )

    def _number(self, value: float) -> str:
        return self._constant(np.float32(value))

    def _pad(self, value: str) -> tuple[str, list[int]]:
        pads = self._constant(np.array([0, 0, 1, 1, 0, 0, 1, 1]))
        value = self._op("Pad", [self._op("Sub", [value, self._number(1.5)]), pads, self._number(0.0)])
        return self._op("MaxPool", [value], kernel_shape=[3, 3]), [2, 3]

    def _convs(self, value: str) -> tuple[str, list[int]]:
        return self._conv(self._op("Relu", [value]), CHANNELS), [0, 1, 2]

    def _scale(self, value: str) -> tuple[str, list[int]]:
        value = self._op("Mul", [value, self._number(0.7)])
        return self._op("Add", [value, self._number(0.4)]), [1, 2]

    def _transposes(self, value: str) -> tuple[str, list[int]]:
        value = self._op("Transpose", [value], perm=[0, 1, 3, 2])
        return self._op("Transpose", [value], perm=[0, 1, 2, 3]), [1, 2]

    def _chain(self, value: str) -> tuple[str, list[int]]:
        value = self._op("Exp", [self._op("Neg", [self._op("Sigmoid", [value])])])
        return self._op("Add", [value, self._number(0.1)]), [1, 2, 3, 4]

    def _leaky(self, value: str) -> tuple[str, list[int]]:
        return self._op("LeakyRelu", [value], alpha=0.1), [1]

    def _softplus(self, value: str) -> tuple[str, list[int]]:
        return self._op("Softplus", [value]), [1]
