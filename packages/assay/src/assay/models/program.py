"""Exported programs (`.pt2`): the form of a model that torch, ExecuTorch and LiteRT read, with its names kept.

torch.export keeps no names of outputs and mangles those of inputs; ours lie beside the program in its extra files.
For worker processes only: opening imports torch.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay.core.flow import dimension_key
from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import InvalidModel, Unsupported

if TYPE_CHECKING:
    import torch

    from assay.ports import Tensors

NAMES = "assay_names.json"
"""The extra file of the archive that holds the names."""


class Names(msgspec.Struct, frozen=True):
    """What the model calls its inputs, its outputs and its dimensions: `shapes` of an input may hold symbols."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """`inputs` and `outputs` are in the order of the program's flat arguments and results; their dimensions are those
    that the program really takes: a number, or a symbol where any number is good."""

    exported: torch.export.ExportedProgram
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]

    def arguments(self, tensors: Tensors) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments of `exported.module()` from arrays by name."""
        from torch.utils import _pytree

        from assay.onnx_to_torch.dtypes import from_numpy

        flat = [from_numpy(tensors[spec.name]) for spec in self.inputs]
        args, kwargs = _pytree.tree_unflatten(flat, self.exported.call_spec.in_spec)
        return tuple(args), dict(kwargs)

    def results(self, value: Any) -> dict[str, torch.Tensor]:
        """Tensors by name from what `exported.module()` returned."""
        from torch.utils import _pytree

        flat = _pytree.tree_leaves(value)
        return dict(zip((spec.name for spec in self.outputs), flat, strict=True))


def save_program(
    exported: torch.export.ExportedProgram, path: Path, inputs: Sequence[TensorSpec], outputs: Sequence[str]
) -> Path:
    """Write a `.pt2` with the names of inputs (and of their dimensions) and outputs, in the program's order."""
    import torch

    names = Names(tuple(inputs), tuple(outputs))
    whole = (
        io.BytesIO()
    )  # A disk that is full ends the process in torch's own writer (2.13): docs/findings/torch-full-disk.py.
    torch.export.save(exported, whole, extra_files={NAMES: msgspec.json.encode(names).decode()})
    path.write_bytes(whole.getbuffer())
    return path


def open_program(path: Path) -> Program:
    """The program of a `.pt2` file.

    A file of another writer has the names that torch gave: of its placeholders, and `output`, `output_1` ..., or the
    keys of a dict. Raises InvalidModel for what is no exported program, Unsupported for one whose inputs or outputs are
    not tensors.
    """
    from assay.models.program_check import check_program

    check_program(path)
    extra = {NAMES: ""}
    exported = _load(path, extra)
    names = _names(path, extra[NAMES])
    return describe(exported, names)


def describe(exported: torch.export.ExportedProgram, names: Names | None = None) -> Program:
    """A program in memory, with the names given or torch's own."""
    placeholders, results = _values(exported)
    if names is not None and (len(names.inputs), len(names.outputs)) != (len(placeholders), len(results)):
        raise InvalidModel(
            noted(
                ModelCode.PROGRAM_TENSOR_COUNTS,
                takes=len(placeholders),
                gives=len(results),
                inputs=len(names.inputs),
                outputs=len(names.outputs),
            )
        )
    symbols: dict[str, str] = {}
    if names is not None:
        for spec, value in zip(names.inputs, placeholders, strict=True):
            for axis, (declared, size) in enumerate(zip(spec.shape, value.shape, strict=False)):
                if isinstance(declared, str) and not isinstance(size, int):
                    symbols.setdefault(str(size), dimension_key(spec.name, axis, declared))
    own_inputs = list(exported.graph_signature.user_inputs)
    in_names = [spec.name for spec in names.inputs] if names else [str(name) for name in own_inputs]
    out_names = list(names.outputs) if names else _output_names(exported, len(results))
    return Program(
        exported,
        tuple(_spec(name, value, symbols) for name, value in zip(in_names, placeholders, strict=True)),
        tuple(_spec(name, value, symbols) for name, value in zip(out_names, results, strict=True)),
    )


def program_digest(program: Program) -> str:
    """The sha256 of what the program computes: its graph, its names and shapes, and every weight with its bits. Saving
    and opening change nothing of it; another version of torch may trace another graph."""
    digest = hashlib.sha256()
    digest.update(msgspec.json.encode((program.inputs, program.outputs)))
    for name, graph in _graphs(program.exported):
        digest.update(f"{name}\n".encode() if name else b"")
        for node in graph.nodes:
            args = tuple(map(_listed, node.args)) if node.op == "call_function" else node.args
            digest.update(f"{node.op} {node.name} {node.target} {args} {node.kwargs}\n".encode())
    for specs in (program.exported.graph_signature.input_specs, program.exported.graph_signature.output_specs):
        for spec in specs:
            digest.update(f"{spec.kind} {spec.arg} {spec.target}\n".encode())
    weights = {**program.exported.state_dict, **program.exported.constants}
    for name in sorted(weights):
        digest.update(f"{name} {_weight_digest(weights[name])}\n".encode())
    return digest.hexdigest()


def _graphs(exported: torch.export.ExportedProgram) -> Iterator[tuple[str, torch.fx.Graph]]:
    """The program's own, and those of its branches and loops."""
    yield "", exported.graph
    for name, module in exported.graph_module.named_modules():
        if name and isinstance(getattr(module, "graph", None), type(exported.graph)):
            yield name, module.graph


def _listed(value: Any) -> Any:
    """A file keeps the operands of a branch as a list, which tracing gave as a tuple (torch 2.13)."""
    return [_listed(part) for part in value] if isinstance(value, tuple | list) else value


def _weight_digest(value: Any) -> str:
    import torch

    if not isinstance(value, torch.Tensor):
        raise Unsupported(noted(ModelCode.PROGRAM_CONSTANT, type=type(value).__name__), cause="other")
    plain = value.detach().cpu().contiguous()
    head = f"{plain.dtype} {tuple(plain.shape)} "
    data = plain.reshape(-1).view(torch.uint8).numpy() if plain.numel() else b""
    return hashlib.sha256(head.encode() + bytes(data)).hexdigest()


def _load(path: Path, extra: dict[str, Any]) -> torch.export.ExportedProgram:
    import torch

    try:
        return torch.export.load(path, extra_files=extra)
    except Exception as error:
        # The reader trusts its input: whatever a damaged archive breaks in it comes out as it is (torch 2.13).
        text = " ".join(str(error).split())[:300] or type(error).__name__
        raise InvalidModel(noted(ModelCode.PROGRAM_NOT_LOADED, file=path.name, error=text)) from error


def _names(path: Path, text: Any) -> Names | None:
    if not text:
        return None
    try:
        return msgspec.json.decode(text, type=Names)
    except (msgspec.DecodeError, TypeError) as error:
        raise InvalidModel(noted(ModelCode.PROGRAM_NAMES_DAMAGED, file=path.name, error=str(error))) from error


def _values(exported: torch.export.ExportedProgram) -> tuple[list[Any], list[Any]]:
    """The example values of user inputs and outputs."""
    nodes = {node.name: node for node in exported.graph.nodes}
    placeholders = [_tensor(nodes, name, "input") for name in exported.graph_signature.user_inputs]
    results = [_tensor(nodes, name, "output") for name in exported.graph_signature.user_outputs]
    return placeholders, results


def _tensor(nodes: Mapping[str, Any], name: object, role: str) -> Any:
    import torch

    value = nodes[name].meta.get("val") if isinstance(name, str) and name in nodes else name
    if not isinstance(value, torch.Tensor):
        raise Unsupported(noted(ModelCode.PROGRAM_NO_TENSOR, role=role, name=str(name)))
    return value


def _output_names(exported: torch.export.ExportedProgram, count: int) -> list[str]:
    spec = exported.call_spec.out_spec
    if spec is not None and spec.type is dict and all(isinstance(key, str) for key in spec.context):
        keys = [str(key) for key in spec.context]
        if len(keys) == count:
            return keys
    return ["output"] if count == 1 else [f"output_{index}" for index in range(count)]


def _spec(name: str, value: Any, symbols: Mapping[str, str]) -> TensorSpec:
    from assay.onnx_to_torch.dtypes import name_of

    return TensorSpec(name, name_of(value.dtype), tuple(_size(size, symbols) for size in value.shape))


def _size(size: Any, symbols: Mapping[str, str]) -> int | str:
    """A number, too, where tracing has fixed a symbol to one."""
    if isinstance(size, int) or str(size).isdecimal():
        return int(size)
    return symbols.get(str(size), str(size))
