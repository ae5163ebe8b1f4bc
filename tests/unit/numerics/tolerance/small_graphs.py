"""Small graphs, noise, and the budgets that float32 uses of their tolerances."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import numpy_helper, parser

from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor


def parsed(text: str, opset: int = 21) -> onnx.ModelProto:
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    return model


def noise(*shape: int, seed: int = 0) -> Tensor:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def float32(model: onnx.ModelProto, feeds: dict[str, Tensor]) -> dict[str, Tensor]:
    names = [value.name for value in model.graph.output]
    return dict(zip(names, Evaluator(model).evaluate(feeds), strict=True))


def budget(profile: DerivedTolerance, outputs: dict[str, Tensor]) -> float:
    return max(output.metrics["budget_used"] for output in judge_outputs([outputs], None, profile).values())


def network(seed: int = 3) -> tuple[onnx.ModelProto, dict[str, Tensor]]:
    model = parsed(
        """g (float[4, 32] x) => (float[4, 8] y) {
            h = MatMul(x, w1)
            b = Add(h, bias)
            n = LayerNormalization<axis=-1>(b, scale, shift)
            a = Gelu(n)
            z = MatMul(a, w2)
            y = Softmax<axis=-1>(z)
        }"""
    )
    weights = {"w1": (32, 64), "bias": (64,), "scale": (64,), "shift": (64,), "w2": (64, 8)}
    for name, shape in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(noise(*shape, seed=seed) * np.float32(0.3), name))
    return model, {"x": noise(4, 32, seed=seed)}
