"""The sentences of what the conversion to torch refuses."""

from __future__ import annotations

from assay.core.refusals.conversion_codes import ConversionCode

CONVERSION: dict[str, str] = {
    # file and graph
    ConversionCode.NO_ONNX_FILE: "{file} is not an ONNX file: {error}",
    ConversionCode.SPARSE_INITIALIZERS: "the conversion to torch takes no sparse initializers",
    ConversionCode.NO_SUCH_OPERATOR: "the conversion to torch has no operator {operator} (node {node})",
    ConversionCode.KIND_OF_CONSTANT: "the conversion to torch takes no constant of this kind (node {node})",
    ConversionCode.OUTPUT_EMPTY_OPTIONAL: "output '{output}' is an empty optional, and only tensors can be compared",
    ConversionCode.OUTPUT_SEQUENCE: "output '{output}' is a sequence, and only tensors can be compared",
    # types
    ConversionCode.NO_TENSORS_OF: "torch has no tensors of type {type}",
    ConversionCode.NO_TENSORS_OF_TEXT: "torch has no tensors of text",
    ConversionCode.NO_TENSORS_OF_ONNX: "torch has no tensors of ONNX type {type}",
    ConversionCode.ROUNDS_OTHERWISE: "torch rounds to float8_e8m0fnu in another way than ONNX",
    # a form of an operator that is not there
    ConversionCode.IN_NODE: "{operator} ({node}): {error}",
    ConversionCode.ACTIVATION: "activation {activation!r} is not known",
    ConversionCode.AUTO_PAD: "auto_pad {padding!r} is not known",
    ConversionCode.NEGATIVE_SAME: (
        "{padding} with a stride wider than the kernel asks for negative padding, which the standard leaves open (its text and onnx's "
        "shape inference give other lengths); give pads and output_padding"
    ),
    ConversionCode.COMPLEX_AXIS: "the axis is that of real and imaginary parts",
    ConversionCode.COORDINATES: "coordinate transformation {transformation!r} is not known",
    ConversionCode.MODE: "mode {mode!r} is not known",
    ConversionCode.NO_SCALES_NO_SIZES: "neither scales nor sizes are given",
    ConversionCode.NO_WINDOW: "neither a window nor a frame length is given",
    ConversionCode.REDUCTION: "reduction {reduction!r} is not known",
    ConversionCode.SPATIAL_DIMENSIONS: "torch has it for 1 to {most} spatial dimensions, not {rank}",
    ConversionCode.TRAINING_MODE: "training mode drops at random and cannot be compared",
    ConversionCode.TWO_SPATIAL_DIMENSIONS: "only two spatial dimensions are there",
    # branches of which both are computed
    ConversionCode.BRANCH_GIVES_NO_TENSOR: "its condition depends on the inputs, and a result is no tensor",
    ConversionCode.BRANCH_MAY_REFUSE: (
        "its condition depends on the inputs, and its {branch} has {index}, which may refuse values of the other branch"
    ),
    ConversionCode.BRANCH_NOT_COMPUTED: (
        "its condition depends on the inputs, and its {branch} cannot be computed for these: {error}"
    ),
    ConversionCode.BRANCHES_DIFFER: (
        "its condition depends on the inputs, and its branches differ in what they give: {dtype} [{shape}] and {other_dtype} "
        "[{other_shape}]"
    ),
    # values that cannot be computed
    ConversionCode.DIMENSION_NOT_ONE: "dimension {axis} is {size}, not 1",
    ConversionCode.DIVIDED_BY_ZERO: "an integer is divided by zero",
    ConversionCode.TORCH_CANNOT: "torch cannot do {operator}: {error}",
    ConversionCode.TORCH_FAILED: "torch failed in {operator} ({node}): {error}",
    ConversionCode.CONDITION_OF_VALUES: (
        "a condition depends on the values of the inputs, and torch's tracer has to know it before they are there"
    ),
    ConversionCode.NAMED_CONDITION_OF_VALUES: (
        "a condition, {expression}, depends on the values of the inputs, and torch's tracer has to know it before they are "
        "there"
    ),
    ConversionCode.SIZE_OF_VALUES: (
        "a size depends on the values of the inputs, and torch's tracer has to know it before they are there"
    ),
    ConversionCode.NAMED_SIZE_OF_VALUES: (
        "a size, {expression}, depends on the values of the inputs, and torch's tracer has to know it before they are there"
    ),
    ConversionCode.TRACER_REFUSES_SIZES: "its tracer refuses the sizes: {error}",
}
