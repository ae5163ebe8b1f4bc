"""Which noise rule is whose: the variance that rounding adds at one place, element by element.

Sums are in `sums`, functions and normalisations in `functions`, interpolation in `sampling`, single roundings in `site`. An
operator that is not here gets `fallback`, and is listed in the profile. Further rules come from the entry points of the
group `assay.noise_rules` (name: operator type; object: a rule).
"""

from __future__ import annotations

import math

import numpy as np

from assay.numerics.tolerance.rules.ensembles import ensemble, later_ensemble
from assay.numerics.tolerance.rules.functions import (
    affine,
    batch_normalization,
    determinant,
    exponential,
    function,
    hard_sigmoid,
    inverse,
    logistic,
    mean,
    power,
    progression,
    response,
    standardized,
    window,
)
from assay.numerics.tolerance.rules.rounding_rules import (
    Rule,
    arithmetic,
    cast,
    constant,
    dequantized,
    fused,
    inner,
    rounding,
    scatter,
)
from assay.numerics.tolerance.rules.sampling import deformed, regional, sampling
from assay.numerics.tolerance.rules.sums import (
    einsum,
    log_reduction,
    positive_sum,
    product,
    reduction,
    relative_reduction,
    total,
    transform,
    variadic,
)
from assay.numerics.tolerance.rules.tabular import classification, linear, normalized, regression, weighted_counts
from assay.numerics.tolerance.rules.ties import steps

GROUP = "assay.noise_rules"

INNER: dict[str, Rule] = {
    "inner": inner,
    "output": rounding,
    "fused": fused,
    "affine": affine,
    "mean": mean,
    "positive_sum": positive_sum,
    "standardized": standardized,
    "exp": exponential,
    "log": function(None),
    "tanh": function(lambda x, z: 1 - z * z),
    "sigmoid": function(logistic),
    "erf": function(lambda x, z: 2 / math.sqrt(math.pi) * np.exp(-x * x)),
    "steps": steps,
    "sum": lambda site, unit: total(float(site.operands["terms"]), site.value, site.operands["squares"](), unit),
    "convert": rounding,
    "left_out": lambda site, unit: np.square(site.operands["error"]) + rounding(site, unit),
}
"""Places inside our own kernels, by the kind that they mark."""

RULES: dict[str, Rule] = {
    **dict.fromkeys(("Sqrt", "LeakyRelu", "PRelu", "Mod", "Col2Im"), rounding),
    **dict.fromkeys(("Add", "Sub", "Mul"), arithmetic),
    **dict.fromkeys(("Div", "Reciprocal", "Shrink", "Softsign"), fused),
    **dict.fromkeys(("Conv", "ConvTranspose", "MatMul", "Gemm"), product()),
    **dict.fromkeys(("ReduceSum", "ReduceMean", "AveragePool", "GlobalAveragePool", "CumSum"), reduction),
    **dict.fromkeys(
        ("ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceProd", "LpPool", "GlobalLpPool", "CumProd"),
        relative_reduction,
    ),
    **dict.fromkeys(("ReduceLogSum", "ReduceLogSumExp"), log_reduction),
    **dict.fromkeys(("Sum", "Mean"), variadic),
    **dict.fromkeys(("DFT", "STFT"), transform),
    **dict.fromkeys(("Resize", "Upsample", "GridSample"), sampling),
    "Einsum": einsum,
    "DeformConv": deformed,
    **dict.fromkeys(("HardSigmoid", "HardSwish"), hard_sigmoid),
    "Det": determinant,
    "LRN": response,
    "BatchNormalization": batch_normalization,
    **dict.fromkeys(("Cast", "CastLike"), cast),
    **dict.fromkeys(("ScatterElements", "ScatterND"), scatter),
    "Pow": power,
    "Constant": constant,
    "ConstantOfShape": constant,
    "DequantizeLinear": dequantized,
    "Exp": function(lambda x, z: z, absolute=False),
    "Log": function(None),
    "Tanh": INNER["tanh"],
    "Sigmoid": INNER["sigmoid"],
    "Erf": INNER["erf"],
    "Sin": function(lambda x, z: np.cos(x)),
    "Cos": function(lambda x, z: np.sin(x)),
    "Tan": function(lambda x, z: 1 + z * z),
    **dict.fromkeys(("Asin", "Acos", "Acosh", "Atanh"), function(None)),
    "Atan": function(lambda x, z: 1 / (1 + x * x)),
    "Sinh": function(lambda x, z: np.sqrt(1 + z * z)),
    "Cosh": function(lambda x, z: z),
    "Asinh": function(lambda x, z: 1 / np.sqrt(1 + x * x)),
    "Softplus": function(lambda x, z: 1 - np.exp(-z)),
    "Elu": function(lambda x, z: np.where(x < 0, z + 1, 1)),
    "Selu": function(lambda x, z: np.where(x < 0, z + 1.76, 1.05)),
    "Celu": function(lambda x, z: np.where(x < 0, z + 1, 1)),
    "Mish": function(lambda x, z: np.minimum(1.1, np.exp(np.minimum(x, 1)))),
    "Swish": function(lambda x, z: np.full_like(z, 1.1)),
    **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), window),
    "Range": progression,
    "MelWeightMatrix": rounding,
    **dict.fromkeys(("RoiAlign", "CropAndResize"), regional),
    "Inverse": inverse,
    **dict.fromkeys(("TreeEnsembleRegressor", "TreeEnsembleClassifier"), ensemble),
    "TreeEnsemble": later_ensemble,
    "Scaler": fused,
    "TfIdfVectorizer": weighted_counts,
    "Normalizer": normalized,
    **dict.fromkeys(("LinearRegressor", "LinearClassifier"), linear),
    "SVMRegressor": regression,
    "SVMClassifier": classification,
}
"""Whole operators, by type."""

MOVEMENT = frozenset(
    """
    Abs And ArgMax ArgMin ArrayFeatureExtractor Bernoulli Binarizer BitShift BitwiseAnd BitwiseNot BitwiseOr
    BitwiseXor CastMap CategoryMapper Ceil CenterCropPad Clip Compress Concat ConcatFromSequence ConvInteger
    DepthToSpace DictVectorizer Dropout Equal Expand EyeLike FeatureVectorizer Flatten Floor Gather GatherElements
    GatherND GlobalMaxPool Greater GreaterOrEqual Hardmax Identity Imputer IsInf IsNaN LabelEncoder Less LessOrEqual
    MatMulInteger Max OneHotEncoder MaxPool MaxRoiPool MaxUnpool Min Multinomial Neg NonMaxSuppression NonZero Not
    OneHot Optional OptionalGetElement OptionalHasElement Or Pad QuantizeLinear RandomNormal RandomNormalLike
    RandomUniform RandomUniformLike Range ReduceMax ReduceMin Relu Reshape ReverseSequence Round Scatter SequenceAt
    SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape Sign Size Slice SpaceToDepth
    Split SplitToSequence Squeeze TensorScatter ThresholdedRelu Tile TopK Transpose Trilu Unique Unsqueeze Where Xor
    ZipMap
    """.split()  # noqa: SIM905  a list of names reads better as text
)
"""Operators that only move, choose or count: a correct backend gives every bit. Those with a rule above too (Range counts in whole
numbers, and computes in real ones) round where their results are real."""


def rule_for(operator: str) -> Rule | None:
    """Ours, or one that a plug-in brings; None where there is neither."""
    return _plugins().get(operator) or RULES.get(operator)


_loaded: dict[str, Rule] | None = None


def _plugins() -> dict[str, Rule]:
    global _loaded
    if _loaded is None:
        from importlib.metadata import entry_points

        _loaded = {entry.name: entry.load() for entry in entry_points(group=GROUP)}
    return _loaded
