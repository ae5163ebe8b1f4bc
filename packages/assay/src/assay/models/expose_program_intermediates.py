"""An exported program whose stored inner tensors are outputs, too, beside the ONNX graph that says what they should be.

Between two of them a delegate computes as one what it fuses: a tap inside would make another kernel of it. So the taps of a
quantized program are what was put on a grid, or what gets a range of its own before that; those of any other, all tensors.
Both the program and the graph are made of the tapped program: on the way to ONNX values get other names, outputs keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.model import TensorSpec
from assay.models.conversion import program_to_onnx
from assay.models.dynamic_ranges import finder, ranged, with_ranges
from assay.models.program import Program, open_program, save_program
from assay.models.reexport import reexport, symbols
from assay.numerics.load_onnx import load_onnx

if TYPE_CHECKING:
    from onnx import ModelProto

_MOST = 4096
_USUAL = 16


def expose_program_intermediates(model: Path, folder: Path) -> tuple[Path, ModelProto, list[str]]:
    """Write the program with its taps as further outputs, behind its own.

    Returns the file, the ONNX graph of the program without them, and their names. Raises what conversion and torch.export raise.
    """
    program = open_program(model)
    module: Any = program.exported.module()
    taps = _taps(module)
    _return(module, taps)
    taken = {tensor_spec.name for tensor_spec in (*program.inputs, *program.outputs)}
    names = [f"{node.name}_tap" if node.name in taken else node.name for node in taps]
    inner = tuple(TensorSpec(name, "float32", ("...",)) for name in names)
    where = symbols(program.inputs)
    usual = {symbol: 2 if axis == 0 else _USUAL for symbol, axis in where.items()}
    wider: Program = reexport(
        replace(program, outputs=(*program.outputs, *inner)),
        dict.fromkeys(where, (1, _MOST)),
        usual=usual,
        module=module,
    )
    tapped = save_program(
        wider.exported, folder / "instrumented.pt2", program.inputs, [output.name for output in wider.outputs]
    )
    return tapped, _graph(tapped, folder, set(names)), names


def _graph(tapped: Path, folder: Path, taps: set[str]) -> ModelProto:
    """Of the program without its taps, whose names it keeps; what gives one of them is called by it."""

    graph = load_onnx(str(program_to_onnx(with_ranges(tapped, folder), folder / "program.onnx")))
    for node in graph.graph.node:
        node.name = next((name for name in node.output if name in taps), node.name)
    own = [value for value in graph.graph.output if value.name not in taps]
    del graph.graph.output[:]
    graph.graph.output.extend(own)
    return graph


def _taps(module: Any) -> list[Any]:
    """Nodes of the module's graph that are no outputs of it already."""
    import torch

    quantized = {node.name for node in module.graph.nodes if _is_stored(node)} | ranged(module)
    given = set(module.graph.output_node().all_input_nodes)
    return [
        node
        for node in module.graph.nodes
        if node.op == "call_function"
        and isinstance(node.meta.get("val"), torch.Tensor)
        and node not in given
        and (node.name in quantized or not quantized)
    ]


def _is_stored(node: Any) -> bool:
    """Whether it puts a value on a grid that was found before."""
    return "::quantize_per" in str(getattr(node.target, "name", str)()) and finder(node.args[1]) is None


def _return(module: Any, taps: Sequence[Any]) -> None:
    """The flat results of the module, and these behind them."""
    import torch
    from torch.utils import _pytree

    end = next(node for node in module.graph.nodes if node.op == "output")
    flat = _pytree.tree_leaves(end.args[0], is_leaf=lambda leaf: isinstance(leaf, torch.fx.Node))
    with module.graph.inserting_before(end):
        module.graph.output((*flat, *taps))
    module.graph.erase_node(end)
    codegen = module.graph._codegen
    if hasattr(codegen, "pytree_info"):
        codegen.pytree_info = codegen.pytree_info._replace(
            out_spec=_pytree.tree_structure(tuple([0] * (len(flat) + len(taps))))
        )
    module.recompile()
