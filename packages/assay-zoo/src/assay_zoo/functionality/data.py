"""A submission's data sets as goldens, read in a process with limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from assay.core.model import Model
from assay.errors import AssayError
from assay.models.goldens import write_golden
from assay.models.onnx_file import describe
from assay.suites.build_folder import fed, read_side, set_number
from assay_zoo.facts import constants_of
from assay_zoo.functionality.held_samples import held_among
from assay_zoo.functionality.messages import SIZES, Data, DataRequest
from assay_zoo.performance.fresh_inputs import telling_samples

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto

Sample = Mapping[str, np.ndarray[Any, Any]]


def read_data_inside(asked: str) -> str:
    """The target of `run_limited`: text of JSON in and out."""
    return msgspec.json.encode(read_data(msgspec.json.decode(asked, type=DataRequest))).decode()


def read_data(request: DataRequest) -> Data:
    """Everything below `request.folder`; only the data sets that are whole are written. Raises BadModel."""
    import onnx

    folder, path, out = Path(request.folder), Path(request.model), Path(request.out)
    model = describe(path)
    proto = onnx.load(str(path), load_external_data=False)
    graph = proto.graph
    names: list[str] = []
    inputs: list[Sample] = []
    outputs: list[Sample] = []
    problems: list[str] = []
    for set_folder in sorted(folder.glob("test_data_set_*"), key=set_number):
        if not set_folder.is_dir():
            continue
        try:
            given, expected = (
                read_side(set_folder, "input", fed(graph)),
                read_side(set_folder, "output", list(graph.output)),
            )
        except (AssayError, OSError, ValueError, KeyError, TypeError) as error:
            problems.append(" ".join(str(error).replace(f"{folder}/", "").split())[:500])
            continue
        names.append(set_folder.name)
        inputs.append(given)
        outputs.append(expected)
    if not names:
        return Data(model, (), tuple(problems))
    _write(out / "inputs", model, inputs, [_nothing()] * len(inputs))
    _write(out / "expected", model, inputs, outputs)
    batches, why = _batches(model, inputs, request.batched)
    if batches:
        _write(out / "batch", model, batches, [_nothing()] * len(batches))
    at = held_among(constants_of(proto, path.parent), inputs)
    held = names[at] if at >= 0 else ""
    return Data(
        model,
        tuple(names),
        tuple(problems),
        bool(batches),
        why,
        *telling_samples(inputs),
        held,
        quantizes_while_it_runs(proto),
        bool(batches) and all(_has_one_row(model, sample) for sample in inputs),
    )


def _has_one_row(model: Model, sample: Sample) -> bool:
    """Along every first dimension that is free."""
    free = [spec.name for spec in model.inputs if spec.shape and isinstance(spec.shape[0], str)]
    return all(sample[name].shape[:1] == (1,) for name in free if name in sample)


def _batches(model: Model, samples: Sequence[Sample], claimed: Sequence[str] | None) -> tuple[list[Sample], str]:
    """Rows of the data sets repeated or cut to each size, or why there are none: values stay those that the model takes."""
    free = {spec.name: spec.shape[0] for spec in model.inputs if spec.shape and isinstance(spec.shape[0], str)}
    symbols = {symbol for name, symbol in free.items() if claimed is None or name in claimed} - {"..."}
    if not symbols:
        return [], "no input leaves its batch free"
    axes = {
        (spec.name, axis)
        for spec in model.inputs
        for axis, size in enumerate(spec.shape)
        if (size in symbols and size != "?") or (size == "?" and axis == 0 and "?" in symbols)
    }
    sample = samples[0]
    if any(name not in sample or sample[name].shape[axis] == 0 for name, axis in axes):
        return [], "the first data set has no row that could be repeated"
    sized = [_resized(_joined(samples, axes), axes, size) for size in SIZES]
    return [*sized, _reversed(sized[-1], axes)], ""


def _joined(samples: Sequence[Sample], axes: set[tuple[str, int]]) -> Sample:
    """The first one, with rows of others of its form behind its own: one row alone, repeated, gives one answer and proves little."""
    first, *others = samples
    names = {name for name, _ in axes}
    if any(axis for _, axis in axes) or len({len(first[name]) for name in names}) > 1:
        return first
    alike = [first, *(sample for sample in others if _alike(first, sample, names))]
    rows = max(SIZES)
    return {**first, **{name: np.concatenate([sample[name][:rows] for sample in alike]) for name in names}}


def _alike(first: Sample, other: Sample, names: set[str]) -> bool:
    """Whether the rows of both (`names`) can stand in one sample: of one type and form, and what has no rows holds the same."""

    def forms(sample: Sample) -> dict[str, Any]:
        return {name: (array.shape[name in names :], array.dtype) for name, array in sample.items()}

    return (
        forms(first) == forms(other)
        and len({len(other[name]) for name in names}) == 1
        and all(name in names or _same(array, first[name]) for name, array in other.items())
    )


def _same(left: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Bit for bit, so that two NaN are the same."""
    return bool(np.array_equal(left, other)) or (left.dtype != object and left.tobytes() == other.tobytes())


def _resized(sample: Sample, axes: set[tuple[str, int]], size: int) -> Sample:
    made = dict(sample)
    for name, axis in sorted(axes):
        made[name] = np.take(made[name], np.arange(size) % made[name].shape[axis], axis=axis)
    return made


def _reversed(sample: Sample, axes: set[tuple[str, int]]) -> Sample:
    """A row has its answer wherever it stands."""
    made = dict(sample)
    for name, axis in sorted(axes):
        made[name] = np.flip(made[name], axis)
    return made


def quantizes_while_it_runs(proto: ModelProto) -> bool:
    """Its scales, then, follow from all rows together."""
    places: list[GraphProto | FunctionProto] = [proto.graph, *proto.functions]
    while places:
        for node in places.pop().node:
            if "DynamicQuantize" in node.op_type:
                return True
            places += [graph for attribute in node.attribute for graph in (attribute.g, *attribute.graphs)]
    return False


def _nothing() -> Sample:
    return {"nothing": np.zeros(1, np.float32)}


def _write(folder: Path, model: Model, inputs: Sequence[Sample], outputs: Sequence[Sample]) -> None:
    from assay.models.model_precision import readable_coarse_types

    write_golden(
        folder, model=model, inputs=inputs, outputs=outputs, seed=0, producer="test_data_set", producer_version="",
        who="submitter", reason="submitted with the model", created_at="",
        coarse=readable_coarse_types(Path(model.source)),
    )  # fmt: skip
