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
_LAYERS, _ARITHMETIC, _CURVES, _MOVES, _REDUCTIONS, _WINDOWS, _TRUTHS, _GRIDS = KINDS
TAKEN_IN: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
    _LAYERS: (_ARITHMETIC, _ARITHMETIC, _CURVES, _WINDOWS),
    _ARITHMETIC: (_ARITHMETIC, _CURVES, _LAYERS),
    _CURVES: (_CURVES, _ARITHMETIC, _REDUCTIONS),
    _MOVES: (_MOVES, _LAYERS, _WINDOWS, _REDUCTIONS),
    _REDUCTIONS: (_REDUCTIONS, _CURVES, _MOVES),
    _WINDOWS: (_CURVES, _ARITHMETIC, _MOVES),
    _TRUTHS: (_TRUTHS,),
    _GRIDS: (_GRIDS, _MOVES, _LAYERS, _WINDOWS),
}
"""By a kind those with which compilers make one node of it: a layer with the sum, the curve or the norm behind it, a move with the layer,
the window or the sum that reads it."""
AGAIN, TOGETHER = 12, 50
"""Percent of the steps that take the same operator once more (two sums become one), and of the others those that take a kind of these."""

STORED = 70
"""See `Build.stored`."""


def next_by_kind(build: Build, before: str) -> str:
    """Any kind behind any other; oftener what becomes one node with the one before, and that operator itself."""
    draws = build.draws
    build.stored = STORED if before else 0  # the first node reads what the graph is fed with
    own = next((kind for kind in KINDS if before in kind), None)
    if own is None:
        return draws.one_of(draws.one_of(KINDS))
    if draws.chance(AGAIN):
        return before
    return draws.one_of(draws.one_of(TAKEN_IN[own] if draws.chance(TOGETHER) else KINDS))
