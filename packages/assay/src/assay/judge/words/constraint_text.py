"""The sentence of each constraint of a graph that inputs do not meet: the one place where they become words."""

from __future__ import annotations

from collections.abc import Mapping

from assay.core.constraint import Constraint, ConstraintCode
from assay.core.finding import Fact
from assay.core.recorded_facts import OTHER_FACTS, as_words, of_another_version

_EQUAL = " are {one} and {other}, which must be equal"
_TEXTS = {
    ConstraintCode.BIAS_CHANNELS: "the numbers of output channels and of biases" + _EQUAL,
    ConstraintCode.BOX_BATCHES: "the batch sizes of boxes and scores" + _EQUAL,
    ConstraintCode.BOX_COUNTS: "the numbers of boxes and of scores" + _EQUAL,
    ConstraintCode.BOX_SIDES: "the sides of a box and 4" + _EQUAL,
    ConstraintCode.CHANNEL_NUMBERS: "the channels of the input and the numbers that are given for them" + _EQUAL,
    ConstraintCode.CONCATENATED_RANKS: "the ranks of what is concatenated" + _EQUAL,
    ConstraintCode.CONCATENATED_SIZES: "sizes of axis {axis} of what is concatenated" + _EQUAL,
    ConstraintCode.EINSUM_RANK: "the axes of '{term}' and the rank of the input" + _EQUAL,
    ConstraintCode.EINSUM_SIZES: "sizes of '{letter}' in {equation}" + _EQUAL,
    ConstraintCode.GATE_ROWS: "the rows of a recurrent layer's weights and those of its gates" + _EQUAL,
    ConstraintCode.GRID_BATCHES: "the batch sizes of the input and of the grid" + _EQUAL,
    ConstraintCode.HEAD_SIZES: "the head sizes of query and key" + _EQUAL,
    ConstraintCode.INNER_SIZES: "the inner sizes of a matrix product" + _EQUAL,
    ConstraintCode.KEY_LENGTHS: "the lengths of key and value" + _EQUAL,
    ConstraintCode.LENGTH_BATCHES: "the batch sizes of the input and of the lengths" + _EQUAL,
    ConstraintCode.MATRIX_RANK: "the rank of the first matrix and 2" + _EQUAL,
    ConstraintCode.PERM_LENGTH: "the rank and the length of perm" + _EQUAL,
    ConstraintCode.RECURRENT_RANK: "the rank of a recurrent layer's input and 3" + _EQUAL,
    ConstraintCode.REGION_BATCHES: "the numbers of regions and of their batch indices" + _EQUAL,
    ConstraintCode.REPEATS: "the rank and the number of repeats" + _EQUAL,
    ConstraintCode.RESIZED_AXES: "the number of sizes and of axes" + _EQUAL,
    ConstraintCode.SCALE_CHANNELS: "the channels of the input and of the scale" + _EQUAL,
    ConstraintCode.STATE_BATCHES: "the batch sizes of the input and of the initial state" + _EQUAL,
    ConstraintCode.TOKEN_SIZES: "the size of a token and of its layer" + _EQUAL,
    ConstraintCode.WEIGHT_FEATURES: "the features of the input and of the weight" + _EQUAL,
    ConstraintCode.WEIGHT_RANKS: "the ranks of the input and of the weight" + _EQUAL,
    ConstraintCode.ANGLES: "{positions} positions, and the table of angles has {places}",
    ConstraintCode.ATTRIBUTE_VALUE: "{attribute} is {value!r}, and must be one of {known}",
    ConstraintCode.AXIS_OUTSIDE: "axis {axis} is outside of rank {rank}",
    ConstraintCode.BROADCAST: "shapes {joined} do not broadcast",
    ConstraintCode.COPIED_AXIS: "{shape} has no axis {axis} to copy into [{wanted}]",
    ConstraintCode.DEFORMED: "an input of shape {shape} does not fit a weight of {weight} and offsets of {offset}",
    ConstraintCode.DROPPED_AXIS: "axis {axis} of {shape} must be 1 to be dropped",
    ConstraintCode.EMPTY_OUTPUT: "it would be empty",
    ConstraintCode.EMPTY_POOL: "a pool over the empty positions of {shape}",
    ConstraintCode.EMPTY_REDUCTION: "an axis of size 0 is reduced in {shape}",
    ConstraintCode.FRAME: "a frame of {frame} does not fit into {size} samples",
    ConstraintCode.INDEX_OUTSIDE: "index {index} is outside of axis {axis} of size {size}",
    ConstraintCode.INPUT_TYPES: "the inputs are of the types {one} and {other}, and must be of one",
    ConstraintCode.LARGEST: "the {wanted} largest of axis {axis} are wanted, which has {size}",
    ConstraintCode.MODEL_TAKES_FEATURES: "the input has {size} features, the model takes {wanted}",
    ConstraintCode.MULTIPLE_OF_BLOCK: "the {of}, {size}, must be a multiple of {divisor}",
    ConstraintCode.MULTIPLE_OF_HEADS: "the {of} has {size} features, no multiple of {heads} heads",
    ConstraintCode.NEGATIVE_PADDING: "axis {axis} of size {size} is padded by {before} and {after}",
    ConstraintCode.NO_SHAPE: "[{sizes}] is no shape",
    ConstraintCode.POSITIONS: "{positions} positions, and the table has {places}",
    ConstraintCode.REFLECTED_PADDING: "axis {axis} of size {size} is padded by {padding} reflected elements",
    ConstraintCode.RESHAPED_ELEMENTS: "{shape} has {elements} elements, and [{wanted}] has {rest}",
    ConstraintCode.RESHAPED_MULTIPLE: "{shape} has {elements} elements, no multiple of the {rest} of [{wanted}]",
    ConstraintCode.RESIZED_TO_NOTHING: "axis {axis} of size {size} is resized to nothing",
    ConstraintCode.ROWS_OF_BLOCK: "{size} rows are no multiple of the {divisor} elements of a block",
    ConstraintCode.SCALAR_AS_MATRIX: "a scalar is multiplied as a matrix",
    ConstraintCode.SCANNED_STEPS: "sequences of {one} and {other} steps are scanned together",
    ConstraintCode.SEQUENCE_POSITION: "position {position} is outside of a sequence of {size}",
    ConstraintCode.SPLIT_EVENLY: "axis {axis} of size {size} is split into {parts} equal parts",
    ConstraintCode.SPLIT_INTO: "axis {axis} of size {size} is split into [{parts}]",
    ConstraintCode.STATE_FEATURES: "the initial state has {size} features, the layer {wanted}",
    ConstraintCode.TOKENS_IN_ONE_ROW: "{tokens} tokens follow earlier ones in {rows} rows: they may in one row alone",
    ConstraintCode.TOTAL_LENGTH: "{before} keys and {new} new ones are {sum}, and the total length is {total}",
    ConstraintCode.TWO_FREE_SIZES: "[{wanted}] has more than one -1",
    ConstraintCode.UPDATE_RANKS: "the ranks of the updates and of what they are written to" + _EQUAL,
    ConstraintCode.UPDATE_SIZES: "a size of the updates and the size of what they are written to" + _EQUAL,
    ConstraintCode.WEIGHT_TAKES_CHANNELS: "the input has {size} channels, the weight takes {wanted}",
    ConstraintCode.WEIGHT_TAKES_FEATURES: "the input has {size} features, the weight takes {wanted}",
    ConstraintCode.WINDOW: "a window of {window} does not fit into {size} elements padded by {padding}",
    ConstraintCode.EXPORTED_FORM: "torch.export made the program for sizes of the form {form} of '{dimension}', and {size} is stated",
    ConstraintCode.EXPORTED_SIZES: "torch.export made the program for sizes {least} to {end} of '{dimension}', and {size} is stated",
    ConstraintCode.RANGE_OUTSIDE: "takes 0 to {last:g} of input '{input}', and {stated} is stated",
}
_BY_ITSELF = {ConstraintCode.RANGE_OUTSIDE}
"""What goes on where the operator is named: it takes something."""


def constraint_text(constraint: Constraint) -> str:
    """With the operator that demands it."""
    shown = as_words(constraint.facts)
    try:
        text = _TEXTS[constraint.code].format(**shown, **_made(constraint.code, constraint.facts))
    except OTHER_FACTS:
        text = of_another_version(constraint.code, shown)
    if not constraint.operator:
        return text
    return f"{constraint.operator} '{constraint.node}'{' ' if constraint.code in _BY_ITSELF else ': '}{text}"


def _made(code: ConstraintCode, facts: Mapping[str, Fact]) -> dict[str, str]:
    """What a sentence says besides the facts themselves."""
    match code:
        case ConstraintCode.BROADCAST:
            shapes = facts["shapes"]
            return {"joined": " and ".join(map(str, shapes)) if isinstance(shapes, tuple) else str(shapes)}
        case ConstraintCode.EXPORTED_SIZES:
            return {"end": str(facts.get("most", "any"))}
        case ConstraintCode.RANGE_OUTSIDE:
            ends = (facts.get("low"), facts.get("high"))
            return {"stated": " to ".join("any" if end is None else f"{end:g}" for end in ends)}
        case _:
            return {}
