"""What is known of one ONNX operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Concatenate, Literal, ParamSpec

import msgspec

if TYPE_CHECKING:
    from assay.core.screening import Unspecified
    from assay.numerics.oracle.batched.operator import Lift
    from assay.numerics.oracle.contrib.body import Decomposition
    from assay.numerics.oracle.hooks import Call, Kernel
    from assay.numerics.shapes.constraints import ShapeRule
    from assay.numerics.shapes.needed_values import Carry, Ranges
    from assay.numerics.tolerance.rules.rounding_rules import Rule

LEARNING, MICROSOFT = "ai.onnx.ml", "com.microsoft"
"""Domains of operators beside the standard's own, which is ""."""

Sizes = tuple[int, ...]
Attribute = Callable[[str], int]
"""A whole number that a node names so; 0 where it does not."""
Terms = Callable[["Call"], float]
Channels = Callable[[int, Attribute], int | None]
"""From the place of the weight among the inputs."""
Contracted = Callable[[int, int, Attribute], int]
"""From the place of the weight among the inputs, and its rank."""
Flops = Callable[[Sequence[Sizes], Sizes, Attribute], float]
"""Floating operations, from the shapes of the inputs and of the first output. A multiplication and an addition are two."""


class OnnxOperator(msgspec.Struct, frozen=True):
    """Each field may be left out: then nothing is known, and what reads the record does what is safe for any operator."""

    name: str
    domain: str = ""

    rounding: Rule | None = None
    """The variance that rounding adds to its result (`tolerance.rules`). None: its kernel marks its own places, or it moves."""
    moves: bool = False
    """It only moves, chooses or counts: a correct backend gives every bit. With a rule too, it rounds where its results are real."""
    steers: tuple[int, ...] = ()
    """Inputs that steer it: shapes, scales, bounds. What only reaches these is exact in every backend."""
    weights: tuple[int, ...] = ()
    """Operands that a backend may fold, pack or repack."""
    terms: Terms | None = None
    """How many products each number of its result is the sum of."""
    contracted: Contracted | None = None
    """Which axis of a weight it sums over."""
    channels: Channels | None = None
    """Which axis of a weight its output channels lie along."""
    bias: int | None = None
    """Which input is a bias."""
    scales: tuple[int, ...] = ()
    """Which inputs are scales of grids, the one of the weight first."""
    zero_points: tuple[int, ...] = ()
    """Which inputs are zero points, in order."""
    gate_order: tuple[int, ...] = ()
    """Of a recurrent layer: its gates in the order of other frameworks."""
    jumps: bool = False
    """A small change of its input may change its result by a step."""
    rounds: bool = False
    """It rounds to a grid, as casts to whole numbers do: rare jumps of whole steps."""
    draws: bool = False
    """It has no right answer: another engine draws other numbers, and so does the next call."""
    drops: tuple[int, ...] = ()
    """It draws where its inputs say so: which of them is the share that it drops, and which says whether it is in training."""
    reads_sizes: bool = False
    """It reads the sizes of its first input, and none of its numbers."""

    order: Literal["", "kept", "moved", "joined"] = ""
    """Its result has the elements of its first input in their order, elsewhere or within bounds, or as a part or among others."""
    decides: Literal["", "whole", "step", "comparison", "rank", "set"] = ""
    """What it makes of real numbers is decided: it gives whole numbers, steps of a grid, the outcome of a comparison, places of the
    largest, or a set of chosen elements."""

    readings: tuple[tuple[Unspecified, str], ...] = ()
    """Where its text can be read in another way: what the text does not say, and the module of `numerics.oracle` whose class of this name
    computes it so. An answer that is right by either is neither right nor wrong."""
    reference: str = ""
    """The module of `numerics.oracle` whose class of this name evaluates it, in place of onnx.reference's own."""
    kernel: Kernel | None = None
    """Itself in numpy, in place of onnx.reference: faster, or with its inner roundings marked (`oracle.hooks`)."""
    takes_halves: bool = False
    """The kernel computes nothing and takes half precision too."""
    fresh: bool = False
    """The oracle computes its result into an array of its own, which nobody else holds."""
    batched: Lift | None = None
    """Itself on several evaluations at once (`oracle.batched`). None: one evaluation after the other."""
    single_inside: bool = False
    """onnx.reference computes it in float32, whatever it is given (onnx 1.23.2): it has no oracle in double."""
    decomposition: Decomposition | None = None
    """The steps of the standard that it is made of (`oracle.contrib`): of an operator of com.microsoft, or of one that ONNX Runtime has
    in the domain of the standard, in opsets that do not know it."""
    result_ranks: tuple[int | None, ...] = ()
    """Of one with a kernel that the inference of shapes does not know: the rank of each result, None where nobody can say."""
    expanded: bool = False
    """The oracle takes it apart into the steps by which the standard defines it."""

    shape: ShapeRule | None = None
    """The shapes of its outputs, and the constraints on those of its inputs."""
    ranges: Ranges | None = None
    """What its inputs must hold, whatever becomes of its outputs."""
    carries: Carry | None = None
    """What its inputs must hold, so that its output holds what is asked of it."""
    passes_divisor: bool = False
    """Also where its output is what something is divided by."""

    flops: Flops | None = None
    """None: one for each element of the largest of what it takes and gives."""
    free: bool = False
    """It moves or renames values: no floating operations at all."""

    mutations: AbstractSet[str] = frozenset()
    """Mutations that may be made at one node of it, by name (`assay.mutation`). Those of a pattern of several nodes find it themselves."""
    mistaken_for: str = ""
    """The operator of the same inputs and outputs that a compiler may take for it."""


P = ParamSpec("P")


def _several(
    record: Callable[Concatenate[str, P], OnnxOperator],
) -> Callable[Concatenate[str, P], tuple[OnnxOperator, ...]]:
    def records(names: str, /, *args: P.args, **facts: P.kwargs) -> tuple[OnnxOperator, ...]:
        return tuple(record(name, *args, **facts) for name in names.split())

    return records


alike = _several(OnnxOperator)
"""Records of operators, by their names in one text, of which the same facts are known."""
