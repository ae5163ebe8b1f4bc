"""How the inputs of a model without data of its own are chosen: sizes of its dimensions, and ranges of its values."""

from __future__ import annotations

import enum

import msgspec

from assay.core.constraint import Constraint
from assay.core.note import Note


class RangeSource(enum.StrEnum):
    """What the values of an input come from: an operator that takes no others, an option, the numbers that the graph compares it with
    (it may have others), all that its type holds, that all who read it take numbers, the thresholds of the trees that read it, or a
    trial on the reference."""

    UNKNOWN = ""
    OPERATOR = "operator"
    STATED = "stated"
    COMPARED = "compared"
    TYPE = "type"
    NUMBERS = "numbers"
    THRESHOLDS = "thresholds"
    TRIED = "tried"


class InputRange(msgspec.Struct, frozen=True, omit_defaults=True):
    """Values from `low` to `high`, both included (None: no bound). `kind` says how they are spread: "" as for any input, mask (0 and 1),
    length, index, count, unique (no place twice), divisor, ascending (from the lower to the upper bound along the last axis),
    magnitude (small ones as often as large ones). One of `choices` where there are some; just `exact` where the input has as many
    elements. `texts` are those that an input of texts is made of. Of one that comes from an operator, `operator` and `node` name it.
    `lows` and `highs` are the bounds of each column of the last axis, where they have bounds of their own; further ones have -1 to 1.
    Half of the numbers of a column are some of its `equals`, where it has such."""

    low: float | None = None
    high: float | None = None
    kind: str = ""
    choices: tuple[float, ...] = ()
    exact: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()
    source: RangeSource = RangeSource.UNKNOWN
    operator: str = ""
    node: str = ""
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()
    equals: tuple[tuple[float, ...], ...] = ()


class InputPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """`sizes` by symbol (`input[2]` for a dimension without a name), `ranges` by input. `floats` is how floating inputs without
    a range are filled: normal or uniform (0 to 1). `changes` are those that were made where the first choice was refused; `unmet`
    is the constraint of the graph that no sizes were found for. `branch_samples` are the samples whose values were changed
    so that they take a branch that no other does, found by trying `branch_tries` values. `products` of one sample, where for their
    number fewer were drawn than usual."""

    sizes: dict[str, int] = {}
    ranges: dict[str, InputRange] = {}
    floats: str = "normal"
    changes: tuple[Note, ...] = ()
    unmet: Constraint | None = None
    branch_samples: tuple[int, ...] = ()
    branch_tries: int = 0
    products: int = 0


class InputFacts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was fed as one input, all samples together. `shapes` are the different ones, `least` and `most` its finite values
    (None: there are none, or they are texts). Where they come from: a golden, or the plan of the inputs, of which `sizes` (those of its
    own dimensions), `range`, `floats`, `products` and `changes` are what it says of this one."""

    name: str
    dtype: str
    shapes: tuple[tuple[int, ...], ...]
    least: float | None = None
    most: float | None = None
    golden: bool = False
    sizes: dict[str, int] = {}
    range: InputRange | None = None
    floats: str = ""
    products: int = 0
    changes: tuple[Note, ...] = ()
