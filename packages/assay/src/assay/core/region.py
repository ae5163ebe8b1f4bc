"""Parts of a graph as triage speaks of them: nodes by their place in the graph, and what was seen of a part that ran alone."""

from __future__ import annotations

import msgspec


class GraphNode(msgspec.Struct, frozen=True):
    """One node of the main graph, with the names of the values that it reads (its bodies included) and writes, and its attributes that are
    a number, a text or a short list of these. `dtypes` are those of what it reads, then of what it writes, where known:
    "float32", "int64 scalar", "float16 empty" (no elements)."""

    name: str
    operator: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    attributes: dict[str, str] = {}
    dtypes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How it is called in a report."""
        return f"{self.name or self.writes[0]} ({self.operator})"


class RegionGraph(msgspec.Struct, frozen=True):
    """A main graph. `known` are the names of all values that were evaluated: a part can be cut there. `opset` is that of the standard's own
    operators (0: not told)."""

    nodes: tuple[GraphNode, ...] = ()
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    opset: int = 0


class RegionEdit(msgspec.Struct, frozen=True):
    """One simplification of a small model. `kind`: "size" (every axis of `size` becomes `to`), or "fill" (the tensor `name` is filled
    by the rule `fill`)."""

    kind: str
    size: int = 0
    to: int = 0
    name: str = ""
    fill: str = ""


class AfterPass(msgspec.Struct, frozen=True):
    """How far a part is from its float64 evaluation after a pass of the backend (relative L2); None where it cannot be evaluated then. The
    pass "" is none: the part as it was read."""

    name: str
    rel_l2: float | None = None


class RegionError(msgspec.Struct, frozen=True):
    """How far the output of a part that ran alone is from its float64 evaluation. `window` is its place among the parts of the job.

    `kind` is "" (within its tolerance), or what is wrong: "values", "range" (an infinity on one side), "nan" (a NaN that float64
    has not), "nan_lost" (the reverse), "lowest" (the largest finite value of a type in place of an infinity), "shape", "missing",
    "unstable" (calls of one engine differ, by `rel_l2`).
    `budget` is the share of its tolerance that it uses, None where none could be derived; `rel_l2` the norm of the difference over
    that of the right answer; `share` that of the elements off by more than a thousandth of the largest; `bias` the mean difference
    over the mean absolute one. Of a loop or a recurrent layer `iteration` is the first that is wrong, counted from 1 (0: none is
    known), of `iterations`."""

    window: int
    output: str
    kind: str = ""
    budget: float | None = None
    rel_l2: float = 0.0
    share: float = 0.0
    bias: float = 0.0
    iteration: int = 0
    iterations: int = 0
