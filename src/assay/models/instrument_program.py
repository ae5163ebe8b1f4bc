"""An exported program whose stored inner tensors are outputs, too, beside the ONNX graph that says what they should be.

Between two of them a delegate computes as one what it fuses: a tap inside would make another kernel of it. So the taps of a
quantized program are what was put on a grid; those of any other, all tensors that have the same name in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.model import TensorSpec
from assay.models.conversion import program_to_onnx
from assay.models.program import Program, open_program, save_program
from assay.models.reexport import reexport, symbols

if TYPE_CHECKING:
    from onnx import ModelProto

_MOST = 4096
_USUAL = 16


def instrument_program(model: Path, folder: Path) -> tuple[Path, ModelProto, list[str]]:
    """Write the program with its taps as further outputs, behind its own.

    Returns the file, the ONNX graph of the program without them, and their names. Raises what conversion and torch.export raise.
    """
    import onnx

    program = open_program(model)
    graph = onnx.load(str(program_to_onnx(model, folder / "program.onnx")))
    module: Any = program.exported.module()
    taps = _taps(module, graph, {one.name for one in program.outputs})
    _return(module, taps)
    inner = tuple(TensorSpec(node.name, "float32", ("...",)) for node in taps)
    where = symbols(program.inputs)
    usual = {symbol: 2 if axis == 0 else _USUAL for symbol, axis in where.items()}
    wider: Program = reexport(
        replace(program, outputs=(*program.outputs, *inner)),
        dict.fromkeys(where, (1, _MOST)),
        usual=usual,
        module=module,
    )
    names = [one.name for one in wider.outputs]
    return (
        save_program(wider.exported, folder / "instrumented.pt2", program.inputs, names),
        graph,
        names[len(names) - len(taps) :],
    )


def _taps(module: Any, graph: ModelProto, given: set[str]) -> list[Any]:
    quantized = {name for node in graph.graph.node if node.op_type == "QuantizeLinear" for name in node.output}
    known = quantized or {name for node in graph.graph.node for name in node.output}
    nodes = [node for node in module.graph.nodes if node.op == "call_function" and node.name in known - given]
    return [node for node in nodes if not isinstance(node.meta.get("val"), Sequence)]


def _return(module: Any, taps: Sequence[Any]) -> None:
    """The flat results of the module, and these behind them."""
    import torch
    from torch.utils import _pytree

    end = next(node for node in module.graph.nodes if node.op == "output")
    flat = _pytree.tree_leaves(end.args[0], is_leaf=lambda one: isinstance(one, torch.fx.Node))
    with module.graph.inserting_before(end):
        module.graph.output((*flat, *taps))
    module.graph.erase_node(end)
    codegen = module.graph._codegen
    if hasattr(codegen, "pytree_info"):
        codegen.pytree_info = codegen.pytree_info._replace(
            out_spec=_pytree.tree_structure(tuple([0] * (len(flat) + len(taps))))
        )
    module.recompile()
