"""Where a witness, and not the oracle, is at fault, or the standard leaves it open: each with the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from oracle_table.case import OpCase

Found = Callable[[OpCase, str, str], bool]


@dataclass(frozen=True)
class Known:
    """`applies` to a case, how it differs, and which witness says so."""

    reason: str
    operators: tuple[str, ...]
    applies: Found


def _named(**wanted: object) -> Found:
    return lambda case, found, witness: all(case.attributes.get(name) == value for name, value in wanted.items())


def _double(case: OpCase, found: str, witness: str) -> bool:
    return any(isinstance(array, np.ndarray) and array.dtype == np.float64 for array in case.inputs)


def _small(case: OpCase, found: str, witness: str) -> bool:
    mine, _, theirs = found.partition(" where ")
    try:
        return abs(float(mine) - float(theirs)) < 1e-6 * max(1.0, abs(float(theirs)))
    except ValueError:
        return False


def _into_text(case: OpCase, found: str, witness: str) -> bool:
    return case.attributes.get("to") == 8 or (case.operator == "CastLike" and case.inputs[1].dtype.kind == "O")


def _into_nibbles(case: OpCase, found: str, witness: str) -> bool:
    return case.attributes.get("to") in (21, 22, 25, 26) or case.operator == "CastLike"


def _fractional(case: OpCase, found: str, witness: str) -> bool:
    scales = case.inputs[1 if case.version < 11 else 2] if len(case.inputs) > 2 else None
    if scales is None or not np.size(scales):
        return False
    lengths = np.asarray(case.inputs[0].shape[-len(scales) :]) * np.asarray(scales)
    return bool(np.any(np.abs(lengths - np.round(lengths)) > 1e-3))


def _whole(case: OpCase, found: str, witness: str) -> bool:
    return case.inputs[0].dtype.kind in "iu"


def _alone(case: OpCase, found: str, witness: str) -> bool:
    ids = case.attributes.get("class_ids")
    if ids is None:
        return len(case.attributes.get("coefficients", ())) == 3
    return len(case.attributes.get("classlabels_int64s", case.attributes.get("classlabels_strings"))) == 2


def _float8(case: OpCase, found: str, witness: str) -> bool:
    return any(isinstance(array, np.ndarray) and array.dtype.name.startswith("float8") for array in case.inputs)


KNOWN = (
    Known(
        "attributes are float32: a default such as 0.2 is not 0.2 in double, and torch takes the number as written",
        (
            "HardSigmoid",
            "HardSwish",
            "LeakyRelu",
            "InstanceNormalization",
            "BatchNormalization",
            "Elu",
            "Selu",
            "Gelu",
            "Shrink",
        ),
        lambda case, found, witness: _double(case, found, witness) and _small(case, found, witness),
    ),
    Known(
        "windows of an element or two are 0 but for the rounding of float32",
        ("BlackmanWindow", "HannWindow", "HammingWindow"),
        _small,
    ),
    Known("the text lets a number be written in several ways", ("Cast", "CastLike"), _into_text),
    Known(
        "how a fraction is rounded to four and two bits is not in the text of Cast: onnx.reference cuts, ONNX Runtime rounds",
        ("Cast", "CastLike"),
        _into_nibbles,
    ),
    Known(
        "the text clips the input of every activation, and so the cell before its tanh: docs/findings/onnxruntime-lstm-clip.py",
        ("LSTM",),
        _named(clip=0.5),
    ),
    Known(
        "what the mask holds where nothing is dropped is not in the text before opset 12",
        ("Dropout",),
        lambda case, *_: case.outputs == 2,
    ),
    Known(
        "a stack of no iteration: torch does not know the shape of its elements",
        ("Loop",),
        lambda case, found, witness: "torch" in witness and "shape" in found,
    ),
    Known("an optional is a list of one here", ("Optional", "OptionalGetElement"), lambda *_: True),
    Known(
        "a logarithm of whole numbers: the type allows them, the text does not say how it is rounded",
        ("ReduceLogSum", "ReduceLogSumExp"),
        _whole,
    ),
    Known(
        "align_corners with a fractional length: the published node case (test_resize_downsample_scales_linear_align_corners) divides by"
        " it, the text and ONNX Runtime by the whole one",
        ("Resize",),
        lambda case, found, witness: (
            case.attributes.get("coordinate_transformation_mode") == "align_corners"
            and _fractional(case, found, witness)
        ),
    ),
    Known(
        "the definition by others takes E[x^2] - E[x]^2 in float32, which cancels",
        ("MeanVarianceNormalization", "LayerNormalization", "GroupNormalization"),
        lambda case, found, witness: "definition" in witness or "double" in witness,
    ),
    Known(
        "the inverse of the error function is a coarse approximation in ONNX Runtime, and no number outside of (0, 1)",
        ("LinearClassifier", "LinearRegressor", "TreeEnsembleClassifier", "TreeEnsembleRegressor", "SVMClassifier"),
        _named(post_transform="PROBIT"),
    ),
    Known(
        "one row of coefficients, or weights of one class, for two classes: the text says neither what the other score is nor what"
        " the transform is of (docs/findings/onnxruntime-two-classes-of-trees.py)",
        ("LinearClassifier", "TreeEnsembleClassifier"),
        _alone,
    ),
    Known(
        "ONNX Runtime takes SOFTMAX for LOGISTIC and LOGISTIC for SOFTMAX (docs/findings/onnxruntime-tree-ensemble-transforms.py), and"
        " onnx's evaluator leaves each transform out",
        ("TreeEnsemble",),
        lambda case, *_: bool(case.attributes.get("post_transform")),
    ),
    Known(
        "ONNX Runtime does not transform a single score",
        ("LinearRegressor", "TreeEnsembleRegressor"),
        lambda case, *_: case.attributes.get("targets", case.attributes.get("n_targets")) == 1,
    ),
    Known(
        "no number among those of which the largest, least or sign is taken: the text says nothing of it; numpy and PyTorch hand it on,"
        " ONNX Runtime passes over it (docs/findings/max-pool-of-minus-infinity.py)",
        (
            "GlobalMaxPool",
            "MaxPool",
            "ReduceMax",
            "ReduceMin",
            "ReduceLogSumExp",
            "Sign",
            "Max",
            "Min",
            "ArgMax",
            "ArgMin",
        ),
        lambda case, found, witness: found.startswith("nan") or "where nan" in found,
    ),
    Known(
        "ONNX Runtime starts from the lowest finite number (docs/findings/max-pool-of-minus-infinity.py)",
        ("MaxPool",),
        lambda case, found, witness: "-3.40282346" in found,
    ),
    Known("the mean of nothing is undefined by the text", ("ReduceMean",), lambda case, *_: 0 in case.inputs[0].shape),
    Known(
        "docs/findings/onnxruntime-maxunpool-output-shape.py", ("MaxUnpool",), lambda case, *_: len(case.inputs) == 3
    ),
    Known(
        "one pixel with aligned corners: 0 / 0 by the text; 0 here and in PyTorch, 1 in ONNX Runtime",
        ("AffineGrid",),
        lambda case, *_: bool(case.attributes.get("align_corners")) and 1 in case.inputs[1][2:],
    ),
    Known(
        "docs/findings/onnxruntime-inverse-one-sided-dft.py",
        ("DFT",),
        lambda case, *_: bool(case.attributes.get("inverse")) and bool(case.attributes.get("onesided")),
    ),
    Known(
        "docs/findings/onnxruntime-resize-crop-of-scale-one.py; and places half way between two pixels, which float32 moves",
        ("Resize",),
        lambda case, *_: case.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize",
    ),
    Known("float8 in QLinearMatMul is not in the oracle, and it says so", ("QLinearMatMul",), _float8),
)


def excused(case: OpCase, found: str, witness: str) -> str:
    """Why this disagreement counts for nothing; "" where it counts."""
    for entry in KNOWN:
        if case.operator in entry.operators and entry.applies(case, found, witness):
            return entry.reason
    return ""
