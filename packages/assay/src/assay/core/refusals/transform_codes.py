"""The codes of what a transform of our own refuses. `assay.judge.refusals.transform_text` makes the sentences."""

from __future__ import annotations

import enum


class TransformCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    # its argument
    TAKES_NO_ARGUMENT = "takes_no_argument"
    TAKES_ONE_OF = "takes_one_of"
    FP16_ARGUMENT = "fp16_argument"
    OPSET_MISSING = "opset_missing"
    OPSET_NUMBER = "opset_number"
    NO_SAMPLES = "no_samples"
    # the model
    NOT_READ_AS_ONNX = "not_read_as_onnx"
    NEEDS_OPSET = "needs_opset"
    OPSET_TOO_NEW = "opset_too_new"
    NOTHING_TO_CONVERT = "nothing_to_convert"
    NOTHING_TO_QUANTIZE = "nothing_to_quantize"
    NO_OPERATOR_LEFT = "no_operator_left"
    QUANTIZED_ALREADY = "quantized_already"
    WEIGHT_COMPUTED = "weight_computed"
    SAMPLE_LACKS_INPUT = "sample_lacks_input"
    INFINITE_VALUES = "infinite_values"
    # what a library makes of it
    CANNOT_SERVE = "cannot_serve"
    LIBRARY_STUMBLES = "library_stumbles"
    LIBRARY_REFUSES = "library_refuses"
    LIBRARY_FAILED = "library_failed"
    REWRITTEN_INVALID = "rewritten_invalid"
    MADE_CONTRADICTION = "made_contradiction"
