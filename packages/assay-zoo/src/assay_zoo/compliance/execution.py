"""What the standard's own evaluator gives, compared with what the model declares of its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.dtype import dtype_name
from assay.core.model_finding import Area, ModelFinding, Severity
from assay.models.examination.text import format_shape, shown
from assay.models.examination.types import Shape, shape_of
from assay.numerics.onnx_elements import element_name

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

Array = np.ndarray[Any, Any]


def check_execution(model: ModelProto, path: Path, inferred: ModelProto) -> Iterator[ModelFinding]:
    """One run on the first data set: drawn inputs may be shapes and counts that no model would be given. A run that fails
    says nothing here: functionality tells why. Where the evaluator contradicts the inference, it is the evaluator that
    errs (onnx 1.23 stacks the scalars of a Loop as [n, 1])."""
    import onnx

    from assay.numerics.oracle.evaluator import Evaluator

    feeds = _published(model, path.parent)
    if feeds is None:
        return
    try:
        evaluator = Evaluator(onnx.load(str(path)))
        with np.errstate(all="ignore"):
            results = evaluator.evaluate(feeds)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  whatever a third party's model makes the evaluator raise
        return
    symbols = _symbols(model, feeds)
    known = {value.name: shape_of(value.type) for value in inferred.graph.output}
    for value, result in zip(model.graph.output, results, strict=False):
        if isinstance(result, np.ndarray | np.generic) and value.type.WhichOneof("value") == "tensor_type":
            array, shape = np.asarray(result), known.get(value.name)
            if shape is None or _same(shape, array.shape, {}):
                yield from _against(value, array, symbols)


def _against(value: ValueInfoProto, result: Array, symbols: Mapping[str, int]) -> Iterator[ModelFinding]:
    what = f"output {shown(value.name)}"
    declared, shape = element_name(value.type.tensor_type.elem_type), shape_of(value.type)
    if declared and dtype_name(result.dtype) != declared:
        yield _found("declared-type", what, declared, dtype_name(result.dtype))
    if shape is not None and not _same(shape, result.shape, symbols):
        yield _found("declared-shape", what, format_shape(shape), format_shape(result.shape))


def _same(declared: Shape, got: Sequence[int], symbols: Mapping[str, int]) -> bool:
    """A symbol of an input stands for one size in the outputs as well."""
    return len(declared) == len(got) and all(
        size == (symbols.get(one, size) if isinstance(one, str) else one)
        for one, size in zip(declared, got, strict=True)
    )


def _symbols(model: ModelProto, feeds: Mapping[str, Array]) -> dict[str, int]:
    sizes: dict[str, set[int]] = {}
    for value in model.graph.input:
        shape = shape_of(value.type) if value.name in feeds else None
        for one, size in zip(shape or (), feeds[value.name].shape if shape else (), strict=False):
            if isinstance(one, str):
                sizes.setdefault(one, set()).add(size)
    return {name: next(iter(found)) for name, found in sizes.items() if len(found) == 1 and name != "?"}


def _published(model: ModelProto, folder: Path) -> dict[str, Array] | None:
    """The first data set; None where it is not whole: that is told by the checks of functionality."""
    from onnx import TensorProto, numpy_helper

    given = {tensor.name for tensor in model.graph.initializer}
    fed = [value for value in model.graph.input if value.name not in given]
    feeds: dict[str, Array] = {}
    for index, value in enumerate(fed):
        try:
            data = (folder / "test_data_set_0" / f"input_{index}.pb").read_bytes()
            feeds[value.name] = np.asarray(numpy_helper.to_array(TensorProto.FromString(data)))
        except Exception:  # noqa: BLE001  of a third party's bytes
            return None
        declared = element_name(value.type.tensor_type.elem_type)
        if declared and dtype_name(feeds[value.name].dtype) != declared:
            return None
    return feeds or None


def _found(code: str, about: str, *values: str) -> ModelFinding:
    return ModelFinding(Area.GRAPH, code, about, values, Severity.CONTRADICTION)
