"""Operators by the part that they play in a compiler's rules: a layer takes in what follows it, moves cancel, arithmetic folds. What was
seen to be rewritten is rewritten in the shapes that were tried; a rule whose condition was not met then is met by its kinds."""

from __future__ import annotations

from assay.generators.build import Build

KINDS: tuple[tuple[str, ...], ...] = (
    ("Conv", "MatMul", "Gemm", "ConvTranspose"),
    ("Add", "Mul", "Sub", "Div", "Pow", "Max", "Min"),
    ("Relu", "Clip", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Neg", "Abs", "Sqrt", "Exp", "Log", "Erf"),
    ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Slice", "Split", "Concat", "Gather", "Expand", "Tile", "Pad"),
    ("ReduceSum", "ReduceMean", "ReduceMax", "Softmax", "ArgMax", "TopK", "CumSum"),
    ("BatchNormalization", "MaxPool", "AveragePool", "GlobalAveragePool", "LayerNormalization", "Resize"),
    ("Cast", "Not", "Less", "Greater", "Equal", "Where"),
    ("QuantizeLinear", "DequantizeLinear"),
)
ALIKE = 25
"""Percent of the steps that stay within the kind: two moves, two sums."""


def next_by_kind(build: Build, before: str) -> str:
    """Any kind behind any other, the same one oftener."""
    own = next((kind for kind in KINDS if before in kind), None)
    draws = build.draws
    return draws.one_of(own if own is not None and draws.chance(ALIKE) else draws.one_of(KINDS))
