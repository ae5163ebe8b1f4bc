"""`python -m assay.suites.build_folder CACHE SECONDS`: read models and their data, a JSON line [case, place, path] in and the
case as one line out, until the input ends. The kernel ends it where one of them takes more than SECONDS."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.model import Model
from assay.errors import AssayError, BadGolden
from assay.models.flatten import flatten
from assay.models.golden_samples import Sample
from assay.models.goldens import read_lock, write_golden
from assay.models.model_precision import readable_coarse_types
from assay.models.sources import is_program, open_source
from assay.suites.folder import UP, companion_file, unreadable_case

RTOL, ATOL = 1e-3, 1e-7
"""The tolerance of onnx's own runner, where `data.json` gives none."""


def main() -> None:
    cache, seconds = Path(sys.argv[1]), int(sys.argv[2])
    with os.fdopen(os.dup(1), "wb", buffering=0) as answers:
        os.dup2(2, 1)  # what libraries print must not look like an answer
        import onnx  # noqa: F401 - the time of importing is no model's

        answers.write(UP + b"\n")
        for line in sys.stdin.buffer:
            name, place, path = msgspec.json.decode(line, type=tuple[str, str, str])
            signal.alarm(seconds)
            case = _case(name, place, Path(path), cache)
            signal.alarm(0)
            answers.write(msgspec.msgpack.encode(case).hex().encode() + b"\n")


def _case(name: str, place: str, path: Path, cache: Path) -> Case:
    try:
        model = open_source(path)
        golden, samples, published = _golden(
            path, model, cache / "goldens" / model.digest[:32] / place.replace("/", "-")
        )
        contract = _contract(path, published=published)
    except (AssayError, OSError, ValueError, KeyError) as error:
        return unreadable_case(name, path, str(error))
    inputs = Inputs(golden=str(golden), samples=samples) if golden else Inputs()
    return Case(name, msgspec.structs.replace(model, name=place), inputs, contract)


def _contract(path: Path, *, published: bool) -> Contract:
    if not published:
        return Contract()
    data = path.parent / "data.json"
    companion = json.loads(data.read_text()) if data.exists() else {}
    tolerance = Tolerance(float(companion.get("rtol", RTOL)), float(companion.get("atol", ATOL)))
    return Contract(tolerances={"*": tolerance}, published=True)


def _golden(path: Path, model: Model, folder: Path) -> tuple[Path | None, int, bool]:
    """The folder of its data, how many samples they are, and whether they were published with the model; None where the
    model has no data at all. Goldens of our own are judged like any: by the arithmetic of the model."""
    for own in (path.parent, path.parent / "golden", path.with_suffix("")):
        if (own / "golden.lock").exists() and not (
            companion_file(path) and read_lock(own).model_digest != model.digest
        ):
            return own, read_lock(own).samples, False
    sets = sorted(path.parent.glob("test_data_set_*"), key=set_number)
    if not sets or is_program(path):  # a data set names its tensors by places in an ONNX graph
        return None, 0, False
    inputs, outputs = data_sets(path, sets)
    write_golden(
        folder, model=model, inputs=inputs, outputs=outputs, seed=0, producer="test_data_set", producer_version="",
        who="published", reason="published with the model", created_at="", coarse=readable_coarse_types(path),
    )  # fmt: skip
    return folder, len(sets), True


def data_sets(model: Path, sets: Sequence[Path]) -> tuple[Sequence[Sample], Sequence[Sample]]:
    """Inputs and outputs of each `test_data_set_N`, by the names of the model. Raises BadGolden."""
    graph = _graph(model)
    inputs = [read_side(path, "input", fed(graph)) for path in sets]
    return inputs, [read_side(path, "output", list(graph.output)) for path in sets]


def set_number(path: Path) -> tuple[int, str]:
    digits = re.findall(r"\d+", path.stem)
    return int(digits[-1]) if digits else -1, path.name


def _graph(path: Path) -> Any:
    import onnx

    return onnx.load(str(path), load_external_data=False).graph


def fed(graph: Any) -> list[Any]:
    constants = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in constants]


def read_side(folder: Path, role: str, values: Sequence[Any]) -> dict[str, np.ndarray[Any, Any]]:
    """The tensors of one data set by name: by the name that the file gives, else by its place. Raises BadGolden."""
    files = sorted(folder.glob(f"{role}_*.pb"), key=set_number)
    if len(files) != len(values):
        raise BadGolden(f"{folder} has {len(files)} {role}s, the model {len(values)}; complete the data set")
    names = [value.name for value in values]
    tensors: dict[str, np.ndarray[Any, Any]] = {}
    for file in files:
        place = set_number(file)[0]
        if place >= len(values):
            raise BadGolden(f"{file} is no {role} of the model, which has {len(values)}; number them from 0")
        value, own = _read(file, values[place])
        name = own if own in names and own not in tensors else names[place]
        tensors |= flatten(name, value)
    return tensors


def _read(file: Path, declared: Any) -> tuple[Any, str]:
    """The value of one file, by the type that the graph declares: the file does not say what it holds."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import numpy_helper

    kind = declared.type.WhichOneof("value")
    try:
        if kind == "sequence_type":
            sequence = onnx.SequenceProto.FromString(file.read_bytes())
            return numpy_helper.to_list(sequence), sequence.name
        if kind == "optional_type":
            optional = onnx.OptionalProto.FromString(file.read_bytes())
            return numpy_helper.to_optional(optional), optional.name
        if kind == "tensor_type":
            tensor = onnx.TensorProto.FromString(file.read_bytes())
            return numpy_helper.to_array(tensor), tensor.name
    except (DecodeError, ValueError) as error:
        raise BadGolden(f"{file} cannot be read ({error}); restore it") from None
    raise BadGolden(f"{file} holds a {kind}, which this layout cannot store; use a golden folder")


if __name__ == "__main__":
    main()
