"""A constraint of a graph that sizes or values of its inputs do not meet, as a code, numbers and names. `assay.judge.words.constraint_text`
makes the sentence of it."""

from __future__ import annotations

import enum
import operator

import msgspec

from assay.core.finding import Fact
from assay.core.note import Note, NoteCode, noted

_LARGEST = 2**63 - 1


class ConstraintCode(enum.StrEnum):
    """What is not met. The facts that come with each are the names in its sentence."""

    # two numbers that must be equal
    BIAS_CHANNELS = "bias_channels"
    BOX_BATCHES = "box_batches"
    BOX_COUNTS = "box_counts"
    BOX_SIDES = "box_sides"
    CHANNEL_NUMBERS = "channel_numbers"
    CONCATENATED_RANKS = "concatenated_ranks"
    CONCATENATED_SIZES = "concatenated_sizes"
    EINSUM_RANK = "einsum_rank"
    EINSUM_SIZES = "einsum_sizes"
    GATE_ROWS = "gate_rows"
    GRID_BATCHES = "grid_batches"
    HEAD_SIZES = "head_sizes"
    INNER_SIZES = "inner_sizes"
    KEY_LENGTHS = "key_lengths"
    LENGTH_BATCHES = "length_batches"
    MATRIX_RANK = "matrix_rank"
    PERM_LENGTH = "perm_length"
    RECURRENT_RANK = "recurrent_rank"
    REGION_BATCHES = "region_batches"
    REPEATS = "repeats"
    RESIZED_AXES = "resized_axes"
    SCALE_CHANNELS = "scale_channels"
    STATE_BATCHES = "state_batches"
    TOKEN_SIZES = "token_sizes"
    UPDATE_RANKS = "update_ranks"
    UPDATE_SIZES = "update_sizes"
    WEIGHT_FEATURES = "weight_features"
    WEIGHT_RANKS = "weight_ranks"
    # shapes
    ANGLES = "angles"
    ATTRIBUTE_VALUE = "attribute_value"
    AXIS_OUTSIDE = "axis_outside"
    BROADCAST = "broadcast"
    COPIED_AXIS = "copied_axis"
    DEFORMED = "deformed"
    DROPPED_AXIS = "dropped_axis"
    EMPTY_OUTPUT = "empty_output"
    EMPTY_POOL = "empty_pool"
    EMPTY_REDUCTION = "empty_reduction"
    FRAME = "frame"
    INDEX_OUTSIDE = "index_outside"
    INPUT_TYPES = "input_types"
    LARGEST = "largest"
    MODEL_TAKES_FEATURES = "model_takes_features"
    MULTIPLE_OF_BLOCK = "multiple_of_block"
    MULTIPLE_OF_HEADS = "multiple_of_heads"
    NEGATIVE_PADDING = "negative_padding"
    NO_SHAPE = "no_shape"
    POSITIONS = "positions"
    REFLECTED_PADDING = "reflected_padding"
    RESHAPED_ELEMENTS = "reshaped_elements"
    RESHAPED_MULTIPLE = "reshaped_multiple"
    RESIZED_TO_NOTHING = "resized_to_nothing"
    ROWS_OF_BLOCK = "rows_of_block"
    SCALAR_AS_MATRIX = "scalar_as_matrix"
    SCANNED_STEPS = "scanned_steps"
    SEQUENCE_POSITION = "sequence_position"
    SPLIT_EVENLY = "split_evenly"
    SPLIT_INTO = "split_into"
    STATE_FEATURES = "state_features"
    TOKENS_IN_ONE_ROW = "tokens_in_one_row"
    TOTAL_LENGTH = "total_length"
    TWO_FREE_SIZES = "two_free_sizes"
    WEIGHT_TAKES_CHANNELS = "weight_takes_channels"
    WEIGHT_TAKES_FEATURES = "weight_takes_features"
    WINDOW = "window"
    # what a user states
    EXPORTED_FORM = "exported_form"
    EXPORTED_SIZES = "exported_sizes"
    RANGE_OUTSIDE = "range_outside"


class Constraint(msgspec.Struct, frozen=True, omit_defaults=True):
    """`operator` and `node` name who demands it ("" where no operator does)."""

    code: ConstraintCode
    facts: dict[str, Fact] = {}
    operator: str = ""
    node: str = ""

    def __post_init__(self) -> None:
        """Numbers of any library become Python's; one that is too large for the wire is kept as text."""
        msgspec.structs.force_setattr(self, "facts", {name: _plain(fact) for name, fact in self.facts.items()})


def _plain(fact: Fact) -> Fact:
    match fact:
        case str() | float():
            return fact
        case tuple():
            return tuple(part if isinstance(part, str | float) else _number(part) for part in fact)
        case _:
            return _number(fact)


def _number(value: int) -> int | str:
    whole = operator.index(value)
    return whole if -_LARGEST <= whole <= _LARGEST else f"2**{whole.bit_length() - 1}"


def unmet_note(constraint: Constraint) -> Note:
    """As what led to another note."""
    named = noted(NoteCode.UNMET, constraint=constraint.code.value, operator=constraint.operator, node=constraint.node)
    return Note(named.code, {**constraint.facts, **named.facts})


def unmet_constraint(note: Note) -> Constraint:
    """What `unmet_note` was made of. Raises KeyError or ValueError for a code that is not known here."""
    facts: dict[str, Fact] = {name: fact for name, fact in note.facts.items() if not isinstance(fact, Note)}
    code, by, node = (str(facts.pop(name)) for name in ("constraint", "operator", "node"))
    return Constraint(ConstraintCode(code), facts, by, node)
