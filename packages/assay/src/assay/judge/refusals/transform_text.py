"""The sentences of what a transform of our own refuses."""

from __future__ import annotations

from assay.core.refusals.transform_codes import TransformCode

TRANSFORMS: dict[str, str] = {
    # its argument
    TransformCode.TAKES_NO_ARGUMENT: "transform {transform} takes no argument, not {argument!r}",
    TransformCode.TAKES_ONE_OF: "transform {transform} takes one of {known}, not {argument!r}",
    TransformCode.FP16_ARGUMENT: "transform fp16 takes no argument or 'io', not {argument!r}: write fp16 or fp16:io",
    TransformCode.OPSET_MISSING: (
        "transform opset takes a number from {oldest} to {newest}, and got none: write for example opset:17"
    ),
    TransformCode.OPSET_NUMBER: (
        "transform opset takes a number from {oldest} to {newest}, not {argument!r}: write for example opset:17"
    ),
    TransformCode.NO_SAMPLES: "transform {transform} has no samples to calibrate with: give it a golden set or inputs",
    # the model
    TransformCode.NOT_READ_AS_ONNX: "{model} cannot be read as ONNX: {error}",
    TransformCode.NEEDS_OPSET: (
        "{transform} needs opset {least} and the model has {opset}: convert it first (--transform opset:{least})"
    ),
    TransformCode.OPSET_TOO_NEW: (
        "{transform} cannot read this model: onnxruntime {known}; convert it first (--transform opset:N)"
    ),
    TransformCode.NOTHING_TO_CONVERT: "fp16 finds no float32 input or weight to convert in this model",
    TransformCode.NOTHING_TO_QUANTIZE: "{transform} finds nothing to quantize in this model (it has {kinds})",
    TransformCode.NO_OPERATOR_LEFT: "no operator is left of this model: there is nothing to compute in int8",
    TransformCode.QUANTIZED_ALREADY: (
        "int8-qdq finds a model that is quantized already: use a flow without this transform"
    ),
    TransformCode.WEIGHT_COMPUTED: "the weight {weight} is computed from inputs: it has no range of its own",
    TransformCode.SAMPLE_LACKS_INPUT: "{transform}: a sample has no input {input}",
    TransformCode.INFINITE_VALUES: (
        "{transform} finds infinite values where it gives {values}: no grid of integers holds them; give masks a large finite"
        " number instead of infinity (-1e4)"
    ),
    # what a library makes of it
    TransformCode.CANNOT_SERVE: "{transform} cannot serve this model: {error}",
    TransformCode.LIBRARY_STUMBLES: (
        "{transform} cannot serve this model: {exception} in {library}'s {function}: {error}"
    ),
    TransformCode.LIBRARY_REFUSES: "{transform}: {error}",
    TransformCode.LIBRARY_FAILED: "{transform} failed ({exception}): {error}",
    TransformCode.REWRITTEN_INVALID: "the rewritten model is not valid: {error}",
    TransformCode.MADE_CONTRADICTION: (
        "{transform} made a model that contradicts itself, of one that does not: {finding}"
    ),
}
