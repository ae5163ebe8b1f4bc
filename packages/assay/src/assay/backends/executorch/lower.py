"""An exported program lowered by ExecuTorch: bounds for its dynamic sizes, a delegate, and what went where."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from assay.backends.executorch.delegates import DELEGATES, partitioners
from assay.backends.executorch.errors import lowering_failure
from assay.backends.placements import count
from assay.backends.torch.warnings import without_deprecations
from assay.core.engine_info import Placement
from assay.core.flow import Flow, Sizes, sizes_to_build
from assay.core.model import TensorSpec
from assay.errors import Lowering
from assay.models.program import Program
from assay.models.reexport import bounds_of, reexport, symbols

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_USUAL = 16
_NO_OPERATORS = ("getitem", "sym_size", "sym_", "executorch_call_delegate", "_operator.")
_CASTS = ("quantize_per", "dequantize_per", "choose_qparams", "_to_dim_order_copy", "_to_copy")
_LAYOUT = ("view_copy", "permute_copy", "clone", "unsqueeze_copy", "squeeze_copy", "expand_copy", "t_copy")


class Built(msgspec.Struct, frozen=True):
    """What the artifact itself has forgotten. `bounds` are (least, most) of every symbol of the inputs."""

    delegate: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    bounds: dict[str, tuple[int, int]]
    placements: tuple[Placement, ...]
    undelegated: tuple[str, ...]
    delegated: int | None


def bounded(program: Program, flow: Flow, most: int, *, fixed: bool) -> tuple[Program, dict[str, tuple[int, int]]]:
    """Exported again with an upper bound for every dynamic size: ExecuTorch plans memory for the largest sizes, and where
    none are said it takes those of the example (1.4), so that a larger batch fails. It is `most`, or the largest size of the
    samples, where none is stated. `fixed`: at the size that samples have instead, a batch of 1 where none is known."""
    where = symbols(program.inputs)
    if not where:
        return program, {}
    dims = sizes_to_build(flow, program.inputs)
    if fixed:
        usual = {name: dims[name][1] if name in dims else 1 if axis == 0 else _USUAL for name, axis in where.items()}
        bounds = {name: (size, size) for name, size in usual.items()}
    else:
        bounds = {name: _range(dims.get(name), most, stated=name in flow.dims) for name in where}
        # Never 0 or 1, which torch.export takes for constants.
        usual = {name: max(2, min(dims[name][1] if name in dims else _USUAL, bounds[name][1])) for name in where}
    try:
        again = reexport(program, bounds, usual=usual)
    except Exception as error:
        raise lowering_failure(error, step="bounding") from error
    return again, bounds_of(again, bounds)


def lowered(
    program: Program, delegate: str, bounds: dict[str, tuple[int, int]], undelegated: Collection[str] = ()
) -> tuple[Built, bytes]:
    """The record and the program. The bounds of the record are those that were kept: on its way to the edge dialect
    executorch (1.4) makes some programs for the example's sizes without a word. Raises errors of `assay.errors.Lowering`,
    or MemoryError."""
    with without_deprecations():
        chosen = partitioners(delegate, undelegated)
        from executorch.exir import to_edge_transform_and_lower

        try:
            edge = to_edge_transform_and_lower(program.exported, partitioner=chosen)
            bounds = _kept(edge.exported_program(), program, bounds)
            delegated, left = _operators(edge.exported_program())
            executable = edge.to_executorch()
        except Lowering:
            raise
        except Exception as error:
            raise lowering_failure(error, step="lowering") from error
    record = Built(
        delegate,
        program.inputs,
        program.outputs,
        bounds,
        _placements(delegated, left, DELEGATES[delegate].id),
        tuple(sorted(name for name, _ in left if _role(name) == "compute")) if chosen else (),
        sum(_role(name) != "cast" for name, _ in delegated) if chosen else None,
    )
    return record, bytes(executable.buffer)


def operators_of(program: Program) -> set[str]:
    """As partitioners name them, before and after they are taken apart."""
    exported = program.exported
    with without_deprecations():
        graphs = (exported.graph_module, exported.run_decompositions().graph_module)
    return {
        _name(node).removeprefix("aten.")
        for graph in graphs
        for node in graph.graph.nodes
        if node.op == "call_function"
    }


def _kept(edge: ExportedProgram, program: Program, bounds: dict[str, tuple[int, int]]) -> dict[str, tuple[int, int]]:
    """By inputs and outputs: a size that was lost is often still a symbol in the one and a number in the other."""
    values = {node.name: node.meta.get("val") for node in edge.graph.nodes}
    signature = edge.graph_signature
    kept = dict(bounds)
    for names, specs in ((signature.user_inputs, program.inputs), (signature.user_outputs, program.outputs)):
        for name, spec in zip(names, specs, strict=True):
            for symbol, size in zip(spec.shape, getattr(values.get(name), "shape", ()), strict=False):
                # A SymInt that has become a number is still no int.
                if symbol in kept and str(size).isdigit():
                    kept[str(symbol)] = (int(size), int(size))
    return kept


Called = tuple[str, str]
"""The name of an operator and the type that it computes in."""


def _operators(exported: ExportedProgram) -> tuple[list[Called], list[Called]]:
    """The operators inside delegates, and those outside."""
    from executorch.exir.lowered_backend_module import get_lowered_submodules

    left = list(_called(exported.graph_module))
    delegated = [
        called
        for _, lowered_module, _ in get_lowered_submodules(exported.graph_module)
        for called in _called(lowered_module.original_module.graph_module)
    ]
    return delegated, left


def _called(graph_module: Any) -> Iterator[Called]:
    for node in graph_module.graph.nodes:
        if node.op == "call_function":
            name = _name(node)
            if not name.startswith(_NO_OPERATORS) and "sym_size" not in name:
                yield name.removesuffix(".default"), _precision_of(node)


def _name(node: Any) -> str:
    return str(getattr(node.target, "__name__", node.target))


def _precision_of(node: Any) -> str:
    """int8 for an operator between a dequantization and what it feeds: delegates fuse the three."""
    from assay.onnx_to_torch.dtypes import name_of

    if any(map(_dequantized, node.all_input_nodes)):
        return "int8"
    value = node.meta.get("val")
    value = value[0] if isinstance(value, list | tuple) and value else value
    return name_of(value.dtype) if hasattr(value, "dtype") else ""


def _dequantized(node: Any) -> bool:
    """Whether the value was int8 a moment ago: weights are often turned before they are multiplied."""
    if node.op != "call_function":
        return False
    name = _name(node)
    return "dequantize_per" in name or (
        any(part in name for part in _LAYOUT) and any(map(_dequantized, node.all_input_nodes))
    )


def _placements(delegated: list[Called], left: list[Called], device: str) -> tuple[Placement, ...]:
    placed = count(
        [*((name, device, kind) for name, kind in delegated), *((name, "portable", kind) for name, kind in left)]
    )
    return tuple(msgspec.structs.replace(placement, role=_role(placement.operator)) for placement in placed)


def _role(operator: str) -> str:
    if any(part in operator for part in _CASTS):
        return "cast"
    return "reformat" if any(part in operator for part in _LAYOUT) else "compute"


def _range(sizes: Sizes | None, most: int, *, stated: bool) -> tuple[int, int]:
    if sizes is None:
        return 1, most
    return (max(1, sizes[0]), max(2, sizes[2])) if stated else (1, max(most, sizes[2]))


@contextmanager
def quietly() -> Iterator[None]:
    """torch and executorch warn of their own deprecations when they are imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
