"""Does a backend compile two operators into something else than each alone? What its engines say that they execute tells, of any backend:
the kernels of the pair against those of its parts, with the same attributes, constants and sizes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from assay.core.screening import EXECUTED
from assay.generators.case_parts import single_nodes
from assay.generators.case_values import CaseValues
from assay.ports.engine import Engine
from assay.ports.generator import GeneratedCase

AROUND = frozenset(("cast", "reformat"))
"""Roles of kernels that stand between others."""
Compile = Callable[[GeneratedCase], Engine]


def rewritten_pair(values: CaseValues, engine: Engine, compiled: Compile) -> tuple[str, str] | None:
    """The operators of a case of two nodes, the second reading the first, whose kernels are not those of its parts. `engine` has run
    it. Raises whatever a backend raises of a part."""
    nodes = values.model.graph.node
    if len(nodes) != 2 or not {*nodes[0].output} & {*nodes[1].input}:
        return None
    parts = [*single_nodes(values)]
    if len(parts) != len(nodes):
        return None
    together = kernels(engine)  # some read the model's file again: before another is written there
    apart: Counter[str] = Counter()
    for part in parts:
        alone = compiled(part)
        alone.run(part.inputs)
        apart += kernels(alone)
    return (nodes[0].op_type, nodes[1].op_type) if together and together != apart else None


def wrong_kernels(values: CaseValues, compiled: Compile) -> dict[str, bool]:
    """By name ("executed QLinearSoftmax") those that a wrong case is wrong with, where the engine says what it executes."""
    try:
        return dict.fromkeys([EXECUTED + name for name in _fused_kernels(values, compiled)], False)
    except Exception:  # noqa: BLE001  a part that a backend does not take says nothing
        return {}


def _fused_kernels(values: CaseValues, compiled: Compile) -> tuple[str, ...]:
    """Names of kernels that the nodes of a case become together, and none of them alone. Raises whatever a backend raises."""
    parts = [*single_nodes(values)]
    if not parts:
        return ()
    whole = compiled(values.case)
    whole.run(values.case.inputs)
    left = kernels(whole)
    for part in parts:
        alone = compiled(part)
        alone.run(part.inputs)
        left -= kernels(alone)
    return tuple(sorted(left))


def change(values: CaseValues, engine: Engine) -> str | None:
    """What of the graph is not executed, and what is in its place ("Conv+Relu > FusedConv"); "" where it is executed as it stands, None
    where the engine does not say. `engine` has run it."""
    before, after = Counter(node.op_type for node in values.model.graph.node), kernels(engine)
    if not after:
        return None
    if before == after:
        return ""
    gone, new = ("+".join(sorted(part.elements())) or "nothing" for part in (before - after, after - before))
    return f"{gone} > {new}"


def kernels(engine: Engine) -> Counter[str]:
    """By name, without the numbers that tell two of one kind apart."""
    kernel_counts: Counter[str] = Counter()
    for placement in engine.facts().placements:
        if placement.role not in AROUND:
            kernel_counts[re.sub(r"\d+", "", placement.operator)] += placement.count
    return kernel_counts
