"""What the operators of an exported program compute in, and how Inductor fuses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.backends.placements import count
from assay.core.engine_info import NumericDefault, Placement
from assay.core.flow import Option
from assay.models.program import Program

NARROW = ("float32", "float16", "bfloat16")


def operators_of(program: Program, device: str, *, wide: bool) -> tuple[Placement, ...]:
    import torch

    from assay.onnx_to_torch.dtypes import name_of

    rows = []
    for node in program.exported.graph.nodes:
        value = node.meta.get("val")
        first = value[0] if isinstance(value, list | tuple) and value else value
        if node.op == "call_function" and isinstance(first, torch.Tensor):
            precision = name_of(first.dtype)
            rows.append((str(node.target), device, "float64" if wide and precision in NARROW else precision))
    if not rows:
        rows = [("identity", device, name_of(value.dtype)) for value in inputs_of_graph(program)]
    return count(rows)


def unrounded_intermediates(graph: Sequence[Placement], options: dict[str, Option]) -> tuple[NumericDefault, ...]:
    """Inductor (2.13) fuses operators of sixteen bits in float32. Its other settings that change numbers (contraction, unsafe math,
    freezing) are off unless variables of its own ask for them."""
    halves = any(placement.precision in ("float16", "bfloat16") for placement in graph)
    name = "emulate_precision_casts"
    if options["compiler"] == "eager" or options[name] is True or not halves:
        return ()
    return (NumericDefault(name, "false", "unrounded-intermediates", name, off=True),)


def inputs_of_graph(program: Program) -> list[Any]:
    nodes = {node.name: node for node in program.exported.graph.nodes}
    return [nodes[str(name)].meta["val"] for name in program.exported.graph_signature.user_inputs]
