"""What a per-node job observed of one node."""

from __future__ import annotations

import msgspec

from assay.core.finding import Finding


class NodeError(msgspec.Struct, frozen=True):
    """One node of the engine's graph; `position` is its place there, from 0.

    `budget_used` is the node's own error: on the engine's own inputs to it, as a share of what is allowed for that node alone;
    None where it could not be judged. The other metrics are accumulated: the engine's `output` of this node against the same
    tensor of the float model, evaluated in float64 on the inputs of the case; None where the float model has no such tensor.
    `sqnr_db` is 10 log10 of the energy of the float tensor over that of the difference, infinite where they are equal.
    `added_rel_l2` is the relative error (norm of the difference over norm of the float tensor) that this node adds: the root of
    its square less the largest square among the node's inputs.
    """

    position: int
    node: str
    operator: str
    output: str
    budget_used: float | None = None
    sqnr_db: float | None = None
    added_rel_l2: float | None = None
    cosine: float | None = None
    max_abs: float | None = None


class Tapping(msgspec.Struct, frozen=True):
    """The `output` that an engine with all its tensors as outputs gives otherwise than without, and by what share of its norm: None
    where its shape is another."""

    output: str
    share: float | None = None


class NodeSummary(msgspec.Struct, frozen=True):
    """How many nodes were judged and how many could not be, the names of those that are `wrong` in the order of the graph, and what
    is wrong with the first."""

    judged: int
    left_out: int = 0
    wrong: tuple[str, ...] = ()
    first: Finding | None = None
    tapping: Tapping | None = None
