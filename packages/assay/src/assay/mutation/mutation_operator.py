"""What a mutation operator is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from onnx import NodeProto

from assay.mutation.graph import Graph


@dataclass(frozen=True)
class MutationOperator:
    """One known kind of miscompilation.

    `sites` yields the nodes where it can be injected; `apply` injects it at one of them, in place. `distance` is the
    default of the knob that says how far the mutant is from the original, None for a mutation that is all or nothing;
    `knob` says what the distance measures. Where it applies, in words: `assay.judge.refusals.mutation_sites`.
    """

    name: str
    stands_for: str
    sites: Callable[[Graph], Iterable[NodeProto]]
    apply: Callable[[Graph, NodeProto, float], None]
    distance: float | None = None
    knob: str = ""
