"""Mutations that go together: those of one part that several operators have. `assay.mutation` says what each does."""

from __future__ import annotations

WEIGHTS = frozenset({"tf32-weights", "bf16-weights", "fp16-weights"})
BIAS = frozenset({"drop-bias", "drop-bias-element", "shift-bias"})
LAYER = frozenset(
    {*WEIGHTS, "tf32-inputs", "bf16-inputs", "fp16-inputs", "drop-last-term", "flip-weight-sign", "transpose-weight"}
)
"""Of products with weights."""
KERNEL = frozenset({"rotate-kernel", "shift-channels", "misread-weight-layout"})
"""Of convolutions."""
WINDOW = frozenset({"shift-padding", "same-upper-lower"})
POOL = frozenset({*WINDOW, "ceil-for-floor"})
PICTURE = frozenset({"nhwc-for-nchw", "swap-height-width"})
"""Of what reads a picture."""
EPSILON = frozenset({"epsilon-times", "drop-epsilon"})
SCALES = frozenset({"per-tensor-scale", "scale-step"})
STATE = frozenset({"drop-recurrent-bias", "wrong-direction", "forget-initial-state"})
"""Of recurrent layers."""
CLASSES = frozenset({"softmax-axis", "softmax-zeros"})
EXTREME = frozenset({"argmax-ties", "argmin-for-argmax"})
TREES = frozenset(
    {"fp16-thresholds", "neighbour-threshold", "strict-branches", "swap-branches", "neighbour-feature", "fp16-leaves", "drop-leaf",
     "drop-last-tree", "shift-leaves", "drop-base-value"}
)  # fmt: skip
"""Of ensembles of decision trees."""
