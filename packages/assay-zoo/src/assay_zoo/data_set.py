"""`test_data_set_N` from arrays: names, types and shapes are the model's, and what does not fit is said before anything is written."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.config.toml_errors import nearest
from assay.errors import NotWritable, UsageError

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

_UNREADABLE = (OSError, ValueError, EOFError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error)
"""What numpy and zipfile raise of a damaged file: RuntimeError where it is encrypted, or packed by a method that is not there."""
Arrays = Mapping[str, np.ndarray[Any, Any]]


def read_arrays(file: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Of a .npz by their names, of a .npy under "". Raises UsageError."""
    try:
        with file.open("rb") as opened:
            loaded = np.load(opened, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"": loaded}
            arrays = {name: loaded[name] for name in loaded.files}
    except _UNREADABLE as error:
        raise _unreadable(file, str(error)) from None
    if others := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
        raise _unreadable(file, f"{others[0]!r} in it is no array")
    return arrays


def _unreadable(file: Path, why: str) -> UsageError:
    text = "numpy.savez(FILE, NAME=array, ...) writes one"
    return UsageError(f"{file} is no .npz or .npy of numbers that can be read ({why}); {text}")


def write_data_set(folder: Path, model: Path, arrays: Arrays) -> Path:
    """The next `test_data_set_N` of a submission. Outputs that are not among the arrays are what ONNX's reference evaluator makes of the
    inputs. Raises UsageError and NotWritable."""
    import onnx

    try:
        whole = onnx.load(str(model))
    except Exception as error:  # noqa: BLE001 - protobuf and files alike; the user has one answer to all of them
        raise UsageError(
            f"{model} is no ONNX model that can be read ({type(error).__name__}): put it there first"
        ) from None
    weights = {tensor.name for tensor in whole.graph.initializer}
    inputs = [value for value in whole.graph.input if value.name not in weights]
    outputs = list(whole.graph.output)
    given = _named(arrays, inputs)
    known = [value.name for value in (*inputs, *outputs)]
    for name in given:
        if name not in known:
            raise UsageError(
                f"the model has no input or output {name!r}{nearest(name, known)}: it has {', '.join(known)}"
            )
    if missing := [value.name for value in inputs if value.name not in given]:
        raise UsageError(
            f"no array for the input {', '.join(missing)}: the model reads {', '.join(value.name for value in inputs)}"
        )
    for value in (*inputs, *outputs):
        if value.name in given:
            _fits(value, given[value.name])
    expected = {output.name: given[output.name] for output in outputs if output.name in given}
    if len(expected) < len(outputs):
        expected = {**_answers(whole, model, {value.name: given[value.name] for value in inputs}), **expected}
    return _written(folder, {"input": (inputs, given), "output": (outputs, expected)})


def _named(arrays: Arrays, inputs: Sequence[ValueInfoProto]) -> Arrays:
    if "" not in arrays:
        return arrays
    if len(inputs) != 1:
        raise UsageError(
            f"one array without a name, and the model reads {len(inputs)} inputs: give a .npz with their names"
        )
    return {inputs[0].name: arrays[""]}


def _fits(port: ValueInfoProto, array: np.ndarray[Any, Any]) -> None:
    from onnx import helper

    kind = port.type.tensor_type
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type)) if kind.elem_type else array.dtype
    if array.dtype != dtype:
        text = f"write it as .astype({str(dtype)!r}), where that is what you mean"
        raise UsageError(f"{port.name} is {array.dtype} here, and {dtype} in the model: {text}")
    sizes = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?" for dim in kind.shape.dim]
    fits = len(sizes) == array.ndim and all(
        isinstance(declared, str) or declared == size for declared, size in zip(sizes, array.shape, strict=False)
    )
    if kind.HasField("shape") and not fits:
        shown = f"({', '.join(map(str, sizes))})"
        raise UsageError(
            f"{port.name} has shape {array.shape} here, and {shown} in the model: the batch is an axis, too"
        )


def _answers(whole: ModelProto, path: Path, inputs: Arrays) -> dict[str, np.ndarray[Any, Any]]:
    from onnx.reference import ReferenceEvaluator

    try:
        answers = ReferenceEvaluator(str(path)).run(None, dict(inputs))
    except Exception as error:  # noqa: BLE001 - whatever an operator says
        text = f"put the outputs among the arrays, by their names ({type(error).__name__}: {str(error)[:200]})"
        raise UsageError(f"ONNX's reference evaluator does not run {path.name}: {text}") from None
    return {port.name: np.asarray(value) for port, value in zip(whole.graph.output, answers, strict=True)}


def _written(folder: Path, sides: Mapping[str, tuple[Sequence[ValueInfoProto], Arrays]]) -> Path:
    from onnx import numpy_helper

    number = 0
    while (folder / f"test_data_set_{number}").exists():
        number += 1
    made = folder / f"test_data_set_{number}"
    try:
        made.mkdir()
        for side, (ports, values) in sides.items():
            for at, port in enumerate(ports):
                tensor = numpy_helper.from_array(values[port.name], port.name)
                (made / f"{side}_{at}.pb").write_bytes(tensor.SerializeToString())
    except OSError as error:
        raise NotWritable(f"{made} cannot be written ({error.strerror})") from None
    return made
