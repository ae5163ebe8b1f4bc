"""A model in the form that a backend reads: ONNX files become exported programs, and the other way round."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.model import Model, TensorSpec
from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import BadModel, InvalidModel, Lowering, Unsupported
from assay.models.dynamic_ranges import with_ranges
from assay.models.out_of_memory import out_of_memory
from assay.models.sources import is_factory

if TYPE_CHECKING:
    import torch

FORMATS = {".onnx": "onnx", ".pt2": "torch"}
"""What a file is, by its suffix; any other file is taken for ONNX."""

Shapes = Mapping[str, Sequence[int]]


def format_of(source: Path) -> str:
    """ "onnx", "torch", or "factory": what is not yet a file."""
    if is_factory(source):
        return "factory"
    return FORMATS.get(source.suffix.lower(), "onnx")


def convert_to(source: Path, form: str, folder: Path, *, shapes: Shapes | None = None) -> Path:
    """`source` itself where it has that form, else a file in `folder` that has: names of inputs and outputs are kept.

    `shapes` are those of inputs that will be fed: a model that cannot be traced for any batch is traced for them.
    Raises `Unsupported` (with node and operator) for what the conversion lacks, `InvalidModel` for a broken file,
    `Lowering` for whatever else the exporter says.
    """
    here = format_of(source)
    if here == "factory":
        source = factory_to_program(source, folder / "factory.pt2")
        here = "torch"
    if here == form:
        return source
    if (here, form) == ("onnx", "torch"):
        return onnx_to_program(source, folder / f"{source.stem}.pt2", shapes=shapes)
    if (here, form) == ("torch", "onnx"):
        return program_to_onnx(with_ranges(source, folder), folder / f"{source.stem}.onnx")
    raise Unsupported(noted(ModelCode.NO_CONVERSION, given=here, asked=form), cause="other")


def factory_to_program(source: Path, path: Path) -> Path:
    """The factory called and exported again: no module crosses the wall. Raises InvalidModel with its sentence."""
    from assay.models.program import save_program
    from assay.models.sources_factory import build_program

    try:
        program = build_program(str(source))
    except BadModel as error:
        raise InvalidModel(error.reason) from error
    return save_program(program.exported, path, program.inputs, [spec.name for spec in program.outputs])


def onnx_to_program(source: Path, path: Path, *, shapes: Shapes | None = None) -> Path:
    """Every symbolic dimension of the file is dynamic in the program, where the graph allows it."""
    from assay.models.onnx_file import open_model
    from assay.models.program import save_program
    from assay.onnx_to_torch import torch_graph

    module = torch_graph(source)
    try:
        signature = open_model(source)
    except BadModel as error:
        raise InvalidModel(error.reason) from error
    signature = _of_graph(signature, module.graph.inputs)
    exported = _exported(module, signature, shapes)
    return save_program(exported, path, signature.inputs, [spec.name for spec in signature.outputs])


def program_to_onnx(source: Path, path: Path) -> Path:
    """By torch.onnx.export (dynamo); dynamic dimensions stay dynamic, with the names that the program knows."""
    import torch

    from assay.models.program import open_program

    program = open_program(source)
    for spec in program.inputs:
        if spec.dtype.startswith("complex"):
            raise Unsupported(noted(ModelCode.EXPORTED_AS_PAIRS, name=spec.name, type=spec.dtype))
    try:
        with _quietly():
            made = torch.onnx.export(program.exported, dynamo=True, verbose=False)
    except Exception as error:
        raise _export_failure("torch.onnx.export", error) from error
    assert made is not None
    _rename(made.model.graph, program.inputs, program.outputs)
    made.save(path)
    return path


def _of_graph(signature: Model, names: Sequence[str]) -> Model:
    import msgspec

    by_name = {spec.name: spec for spec in signature.inputs}
    return msgspec.structs.replace(signature, inputs=tuple(by_name[name] for name in names))


_SIZES = (16, 64, 224)
"""Tried in turn for symbolic dimensions that are not the batch: too small a picture vanishes in a deep network."""


def _exported(module: Any, signature: Model, shapes: Shapes | None) -> torch.export.ExportedProgram:
    """Traced with dynamic dimensions; where that fails, or fixes another size than will be fed, for the shapes that will be fed, or
    for batch 1."""
    symbolic = [dim for spec in signature.inputs for dim in spec.shape if isinstance(dim, str)]
    if not symbolic:
        return _traced(module, signature.inputs, _example_shapes(signature, 1, 16, None), dynamic=False)
    rest = [dim for spec in signature.inputs for dim in spec.shape[1:] if isinstance(dim, str)]
    first: Lowering | None = None
    for size in _SIZES if rest else _SIZES[:1]:
        try:
            traced = _traced(module, signature.inputs, _example_shapes(signature, 2, size, shapes), dynamic=True)
            if _takes(traced, signature, shapes):
                return traced
        except Unsupported:
            raise
        except Lowering as error:
            first = first or error
    fixed = (
        {name: tuple(shape) for name, shape in shapes.items()} if shapes else _example_shapes(signature, 1, 16, None)
    )
    try:
        return _traced(module, signature.inputs, fixed, dynamic=False)
    except Lowering as error:
        raise (first or error) from error


def _takes(exported: torch.export.ExportedProgram, signature: Model, shapes: Shapes | None) -> bool:
    """Whether these shapes can be fed to it: a graph may fix a dimension that its file leaves open to the size of the example."""
    from assay.models.program import describe

    taken = zip(signature.inputs, describe(exported).inputs, strict=True)
    return not shapes or all(
        not isinstance(size, int) or size == fed
        for declared, own in taken
        for size, fed in zip(own.shape, shapes.get(declared.name, own.shape), strict=False)
    )


def _example_shapes(signature: Model, batch: int, size: int, shapes: Shapes | None) -> dict[str, tuple[int, ...]]:
    """One symbol one number, that of the samples to be fed, never 0 or 1: torch.export would take those for constants. What
    the program does at other sizes than the example's, such as a window that fits just once, decides which it takes."""
    firsts = {spec.shape[0] for spec in signature.inputs if spec.shape}
    chosen: dict[str, int] = {}

    def fed_or(spec: TensorSpec, axis: int, otherwise: int) -> int:
        fed = shapes[spec.name][axis] if shapes and axis < len(shapes.get(spec.name, ())) else 0
        return max(fed, 2) if fed else otherwise

    for spec in signature.inputs:
        for axis, dim in enumerate(spec.shape):
            if isinstance(dim, str) and dim != "?":
                chosen.setdefault(dim, batch if axis == 0 or dim in firsts else fed_or(spec, axis, size))

    def number(spec: TensorSpec, axis: int, dimension: int | str) -> int:
        if isinstance(dimension, int):
            return dimension
        if dimension == "...":
            raise Unsupported(noted(ModelCode.RANK_NOT_KNOWN, input=spec.name), cause="other")
        return chosen[dimension] if dimension in chosen else batch if axis == 0 else fed_or(spec, axis, size)

    return {
        spec.name: tuple(number(spec, axis, dim) for axis, dim in enumerate(spec.shape)) for spec in signature.inputs
    }


def _traced(
    module: Any, specs: Sequence[TensorSpec], shapes: Mapping[str, Sequence[int]], *, dynamic: bool
) -> torch.export.ExportedProgram:
    import torch

    from assay.onnx_to_torch.dtypes import torch_dtype

    examples = tuple(_example(torch_dtype(spec.dtype), shapes[spec.name]) for spec in specs)
    dimensions = tuple(
        {axis: torch.export.Dim.AUTO for axis, size in enumerate(spec.shape) if isinstance(size, str)} for spec in specs
    )
    try:
        with _quietly(), torch.no_grad():
            return torch.export.export(module, examples, dynamic_shapes=(dimensions,) if dynamic else None)
    except Lowering:
        raise
    except Exception as error:
        raise _export_failure("torch.export", error) from error


def _example(dtype: torch.dtype, shape: Sequence[int]) -> torch.Tensor:
    """Values do not matter to tracing, but for those that are used as sizes or indices: ones."""
    import torch

    return torch.ones(tuple(shape), dtype=dtype)


def _export_failure(what: str, error: Exception) -> Lowering | MemoryError:
    """The first cause: the exporter wraps it in pages of advice."""
    cause: BaseException | None = error
    first: BaseException = error
    while cause is not None:
        if isinstance(cause, Lowering):
            return cause
        cause = cause.__cause__ or cause.__context__
    while first.__cause__ is not None:
        first = first.__cause__
    text = " ".join(str(first).split())[:400] or type(first).__name__
    if out_of_memory(first):
        return MemoryError(text)
    name = type(first).__name__
    if name == "DispatchError" or "DataDependent" in name or "data-dependent" in text or "Unsupported" in name:
        return Unsupported(noted(ModelCode.EXPORTER_CANNOT, exporter=what, error=text))
    return Lowering(noted(ModelCode.EXPORTER_FAILED, exporter=what, exception=name, error=text))


def _rename(graph: Any, inputs: Sequence[TensorSpec], outputs: Sequence[TensorSpec]) -> None:
    """Values of an onnx-ir graph get the program's names, its dimensions too; those that stood in the way get another."""
    import onnx_ir

    for value, spec in zip((*graph.inputs, *graph.outputs), (*inputs, *outputs), strict=True):
        value.shape = onnx_ir.Shape([size if isinstance(size, int) else _symbol(size) for size in spec.shape])
    new_names = {spec.name for spec in (*inputs, *outputs)}
    ends = [*graph.inputs, *graph.outputs]
    for node in graph:
        for value in node.outputs:
            if value.name in new_names and all(value is not end for end in ends):
                value.name = f"{value.name}_inner"
    for value in list(graph.initializers.values()):
        if value.name in new_names:
            value.name = f"{value.name}_weight"
    for value, spec in zip(graph.inputs, inputs, strict=True):
        value.name = spec.name
    for value, spec in zip(graph.outputs, outputs, strict=True):
        value.name = spec.name


def _symbol(size: str) -> str | None:
    """Expressions are no names to ONNX."""
    return size if size.isidentifier() else None


@contextmanager
def _quietly() -> Iterator[None]:
    """The exporters warn of what is handled here: specialised dimensions, their own deprecations."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
