"""What a manifest says of a model: its closure by digest, its operator set. The file is read in a limited process."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from assay.errors import HarnessError, UsageError
from assay_zoo.limited_process import Ending, run_limited
from assay_zoo.manifest import SKETCH_FORM, Entry, File, Manifest, Sketch, Version
from assay_zoo.zoo_files import MODELS

if TYPE_CHECKING:
    import numpy as np
    from onnx import ModelProto, NodeProto

_SECONDS = 120.0
_OF_SIZE = 64
"""Elements of a constant that is a weight, and no axis or shape."""
_KEPT, _TAKEN = 32, 256
"""Of the largest weights: some of those taken are one when they are rounded."""
_BLOCK = 1 << 20
"""Weights that are looked at together: a model may be large, and memory is limited."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """`closure` is the digest of model and external data together, as `assay check` records it; `weights` that of the constants alone,
    whatever the graph calls them, "" where it has none of size; `largest` are the largest fractions among them, none where there are few,
    `sketch` has lines of them, and `found` the parts of served models that are in them, by name and version.
    `value_dependent`: how much it does follows from values of its inputs."""

    closure: str
    weights: str
    opset: int
    ir: int
    files: tuple[File, ...]
    value_dependent: bool = False
    largest: tuple[float, ...] = ()
    sketch: Sketch | None = None
    found: dict[str, float] = {}


def read_facts(folder: Path, model: str, *, memory_bytes: int, others: Mapping[str, Entry] | None = None) -> Facts:
    """`others` are models of which parts may be in it. Raises UsageError for a model that cannot be read, HarnessError where no process
    could be had to read it."""
    served = {
        found_key(name, version): msgspec.to_builtins(version.sketch)
        for name, entry in (others or {}).items()
        for version in entry.versions
        if version.sketch
    }
    item = {"folder": str(folder), "model": model, "others": served}
    answer = run_limited("assay_zoo.facts:read_facts_inside", [item], seconds=_SECONDS, memory_bytes=memory_bytes)[0]
    if answer.ending is Ending.HARNESS:
        raise HarnessError(answer.sentence)
    if answer.ending is not Ending.OK:
        raise UsageError(f"{model} of the submission cannot be read: {answer.sentence}")
    return msgspec.convert(answer.value, Facts)


def found_key(name: str, version: Version) -> str:
    return f"{name} {version.version}"


def with_sketches(root: Path, manifest: Manifest, *, memory_bytes: int) -> Manifest:
    """What copies are known by is added for versions that were promoted before it was recorded as now. Raises UsageError, HarnessError."""

    def filled(name: str, version: Version) -> Version:
        folder, path = root / MODELS / name / version.version, version.files[0].path if version.files else ""
        is_known = version.sketch is not None and version.sketch.form == SKETCH_FORM
        if is_known or not path or not (folder / path).is_file():
            return version
        facts = read_facts(folder, path, memory_bytes=memory_bytes)
        return msgspec.structs.replace(version, largest=facts.largest, sketch=facts.sketch)

    models = {
        name: msgspec.structs.replace(entry, versions=tuple(filled(name, version) for version in entry.versions))
        for name, entry in manifest.models.items()
    }
    return msgspec.structs.replace(manifest, models=models)


def read_facts_inside(item: dict[str, Any]) -> Any:
    """The target of `run_limited`."""
    from onnx import ModelProto

    from assay.models.external_data import external_files
    from assay.models.files import file_digest
    from assay.models.onnx_file import describe
    from assay_zoo.performance.value_dependent import depends_on_values
    from assay_zoo.weight_sketch import Lines, counted, share_found, sketch_of

    folder = Path(item["folder"])
    path = folder / item["model"]
    model = describe(path)
    proto = ModelProto.FromString(path.read_bytes())
    external = external_files(proto, path)
    files = [path, *external.values()]
    lines = Lines(counted(centred_constants(proto, path.parent)))
    return msgspec.to_builtins(
        Facts(
            closure=model.digest,
            weights=_weights(proto, path.parent),
            largest=largest_of(proto, path.parent),
            sketch=sketch_of(lines),
            found={key: share_found(msgspec.convert(known, Sketch), lines) for key, known in item["others"].items()},
            value_dependent=depends_on_values(proto),
            opset=model.opsets.get("", model.opsets.get("ai.onnx", 0)),
            ir=model.ir_version,
            files=tuple(
                File(path=file.relative_to(folder).as_posix(), sha256=file_digest(file), size=file.stat().st_size)
                for file in files
            ),
        )
    )


def constants_of(model: ModelProto, folder: Path) -> Iterator[np.ndarray]:
    """Those of size, one at a time, wherever the model holds them; `folder` is the model's own."""
    from onnx.numpy_helper import to_array

    from assay.models.external_data import stored_tensors

    yield from (to_array(tensor, str(folder)) for tensor in stored_tensors(model) if math.prod(tensor.dims) >= _OF_SIZE)
    yield from (array for array in _lists(model) if array.size >= _OF_SIZE)


def centred_constants(model: ModelProto, folder: Path) -> Iterator[np.ndarray]:
    """As `constants_of`, those of eight bits without their zero points: they are two inputs behind them, in every operator that takes
    both, one for all or one for each of the places along an axis."""
    from onnx.numpy_helper import to_array

    from assay.models.external_data import stored_tensors

    tensors = {tensor.name: tensor for tensor in stored_tensors(model) if tensor.name}
    constants = (node for node in _nodes(model) if node.op_type == "Constant" and node.attribute)
    tensors |= {node.output[0]: node.attribute[0].t for node in constants if node.attribute[0].HasField("t")}
    zeros = {
        weight: (tensors[zero], _axis_of(node))
        for node in _nodes(model)
        for weight, zero in zip(node.input, node.input[2:], strict=False)
        if weight in tensors and zero in tensors and tensors[weight].data_type == tensors[zero].data_type
    }
    for tensor in stored_tensors(model):
        if math.prod(tensor.dims) >= _OF_SIZE:
            array, zero = to_array(tensor, str(folder)), zeros.get(tensor.name)
            is_byte = array.dtype.kind in "iu" and array.dtype.itemsize == 1
            yield _without(to_array(zero[0], str(folder)), array, zero[1]) if zero is not None and is_byte else array
    yield from (array for array in _lists(model) if array.size >= _OF_SIZE)


def _axis_of(node: NodeProto) -> int:
    """That of the zero points of a weight: of what comes out, unless the node says another."""
    usual = {"DequantizeLinear": 1, "ConvInteger": 0, "QLinearConv": 0}.get(node.op_type, -1)
    return next((attribute.i for attribute in node.attribute if attribute.name == "axis"), usual)


def _without(zeros: np.ndarray, array: np.ndarray, axis: int) -> np.ndarray:
    """Where they are for an axis of the array, or one for all."""
    if zeros.size == 1:
        return array.astype("float32") - float(zeros.reshape(-1)[0])
    if not -array.ndim <= axis < array.ndim or zeros.shape != (array.shape[axis],):
        return array
    shape = [1] * array.ndim
    shape[axis] = -1
    centred: np.ndarray = array.astype("float32") - zeros.astype("float32").reshape(shape)
    return centred


def _lists(model: ModelProto) -> Iterator[np.ndarray]:
    """Of numbers or texts, as attributes of nodes: `value_floats` of Constant, the leaves of a forest."""
    import numpy as np

    for attribute in (attribute for node in _nodes(model) for attribute in node.attribute):
        yield np.array(attribute.floats, np.float32)
        yield np.array(attribute.ints, np.int64)
        yield np.array(list(attribute.strings), object)


def _nodes(model: ModelProto) -> Iterator[NodeProto]:
    places = [model.graph, *model.functions]
    places += [graph for info in model.training_info for graph in (info.initialization, info.algorithm)]
    while places:
        for node in places.pop().node:
            yield node
            places += [graph for attribute in node.attribute for graph in (attribute.g, *attribute.graphs)]


def largest_of(model: ModelProto, folder: Path) -> tuple[float, ...]:
    """Of all constants of fractions together: however they are cut, turned, named, stored or rounded. Two trainings have others; grids
    and masks, whose values are whole or half, may be the same."""
    import numpy as np

    from assay_zoo.weight_sketch import is_computed

    largest = np.zeros(0)
    for array in constants_of(model, folder):
        if array.dtype.kind == "f" and not is_computed(array):
            flat, top = array.reshape(-1), np.zeros(0)
            for start in range(0, flat.size, _BLOCK):
                block = np.abs(flat[start : start + _BLOCK].astype(np.float64))
                block = block[np.isfinite(block)]
                top = np.concatenate([top, block[2 * block % 1 != 0]])
                top = np.partition(top, -_TAKEN)[-_TAKEN:] if top.size > _TAKEN else top
            largest = np.unique(np.concatenate([largest, top]))[-_KEPT:]
    return tuple(float(f"{value:.6g}") for value in largest) if len(largest) == _KEPT else ()


def _weights(model: ModelProto, folder: Path) -> str:
    """Of the set of constants: names and order do not matter, nor whether one is an initializer or the constant of a node."""
    digests = sorted(
        hashlib.sha256(f"{constant.dtype}{constant.shape}".encode() + _contents(constant)).hexdigest()
        for constant in constants_of(model, folder)
    )
    return hashlib.sha256("".join(digests).encode()).hexdigest() if digests else ""


def _contents(array: np.ndarray) -> bytes:
    """The values; of an array of texts its memory would be addresses."""
    if array.dtype != object:
        return array.tobytes()
    texts = [element if isinstance(element, bytes) else str(element).encode() for element in array.reshape(-1)]
    return b"".join(len(text).to_bytes(8, "little") + text for text in texts)
