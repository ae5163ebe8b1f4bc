"""Operators taken apart into the steps that define them, so that each step is computed, and rounds, on its own."""

from __future__ import annotations

from onnx import ModelProto, inliner

EXPANDED = (
    "AffineGrid",
    "Attention",
    "CausalConvWithState",
    "LinearAttention",
    "NegativeLogLikelihoodLoss",
    "RotaryEmbedding",
    "SoftmaxCrossEntropyLoss",
    "Swish",
)
"""Defined by the standard as functions of others; onnx.reference computes some of them in float32 only."""


def expanded(proto: ModelProto) -> ModelProto:
    """The same model in smaller steps; the model itself where it has none of these, or where onnx 1.23 cannot take them
    apart (an optional input left out in the middle)."""
    present = {node.op_type for node in proto.graph.node} & set(EXPANDED)
    for name in sorted(present):
        try:
            proto = inliner.inline_selected_functions(proto, [("", name)], False, True)
        except RuntimeError:
            continue
    return proto
