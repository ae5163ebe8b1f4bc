"""The codes of what the conversion to torch refuses. `assay.judge.refusals.conversion_text` makes the sentences."""

from __future__ import annotations

import enum


class ConversionCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    # file and graph
    NO_ONNX_FILE = "no_onnx_file"
    SPARSE_INITIALIZERS = "sparse_initializers"
    NO_SUCH_OPERATOR = "no_such_operator"
    KIND_OF_CONSTANT = "kind_of_constant"
    OUTPUT_EMPTY_OPTIONAL = "output_empty_optional"
    OUTPUT_SEQUENCE = "output_sequence"
    # types
    NO_TENSORS_OF = "no_tensors_of"
    NO_TENSORS_OF_TEXT = "no_tensors_of_text"
    NO_TENSORS_OF_ONNX = "no_tensors_of_onnx"
    ROUNDS_OTHERWISE = "rounds_otherwise"
    # a form of an operator that is not there
    IN_NODE = "in_node"
    ACTIVATION = "activation"
    AUTO_PAD = "auto_pad"
    NEGATIVE_SAME = "negative_same"
    COMPLEX_AXIS = "complex_axis"
    COORDINATES = "coordinates"
    MODE = "mode"
    NO_SCALES_NO_SIZES = "no_scales_no_sizes"
    NO_WINDOW = "no_window"
    REDUCTION = "reduction"
    SPATIAL_DIMENSIONS = "spatial_dimensions"
    TRAINING_MODE = "training_mode"
    TWO_SPATIAL_DIMENSIONS = "two_spatial_dimensions"
    # branches of which both are computed
    BRANCH_GIVES_NO_TENSOR = "branch_gives_no_tensor"
    BRANCH_MAY_REFUSE = "branch_may_refuse"
    BRANCH_NOT_COMPUTED = "branch_not_computed"
    BRANCHES_DIFFER = "branches_differ"
    # values that cannot be computed
    DIMENSION_NOT_ONE = "dimension_not_one"
    DIVIDED_BY_ZERO = "divided_by_zero"
    TORCH_CANNOT = "torch_cannot"
    TORCH_FAILED = "torch_failed"
    CONDITION_OF_VALUES = "condition_of_values"
    NAMED_CONDITION_OF_VALUES = "named_condition_of_values"
    SIZE_OF_VALUES = "size_of_values"
    NAMED_SIZE_OF_VALUES = "named_size_of_values"
    TRACER_REFUSES_SIZES = "tracer_refuses_sizes"
