"""What a model is worth after each pass of OpenVINO: the release writes it then, and its reference code evaluates it.

There is no switch for a pass in its wheels (2026.4), but `OV_ENABLE_SERIALIZE_TRACING` (2024.6 and later). It is read when the library
is loaded, so that this is a process of its own: `python -m assay.backends.openvino.passes FOLDER`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported
from assay.ports import Tensor, Tensors

_TRACING = "OV_ENABLE_SERIALIZE_TRACING"
_DUMP = re.compile(r"Model\d+_(\d+)_(.*)\.xml")
_ASKED, _INPUTS, _STAGES, _ANSWERS = "asked.json", "inputs.npz", "stages.json", "answers.npz"
EACH_PASS_S = 120.0


class _Asked(msgspec.Struct):
    """What the process is to do."""

    model: str
    config: dict[str, str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def after_each_pass(
    model: Path,
    config: Mapping[str, Any],
    names: tuple[tuple[str, ...], tuple[str, ...]],
    inputs: Tensors,
    folder: Path,
) -> list[tuple[str, dict[str, Tensor] | None]]:
    """The stages in order with the outputs of each, None where it cannot be evaluated: as read (""), then after each pass. Raises
    Unsupported where the process does not come to its end."""
    request = _Asked(str(model.absolute()), {name: str(value) for name, value in config.items()}, *names)
    (folder / _ASKED).write_bytes(msgspec.json.encode(request))
    arrays: dict[str, Any] = {str(at): np.asarray(inputs[name]) for at, name in enumerate(names[0])}
    np.savez(folder / _INPUTS, **arrays)
    command = [sys.executable, "-P", "-m", "assay.backends.openvino.passes", str(folder)]
    environment = {**os.environ, _TRACING: "true"}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, timeout=EACH_PASS_S, check=False
        )
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode != 0:
        raise Unsupported(noted(BackendCode.PASSES_NOT_SHOWN, library="openvino"), cause="other")
    stages = msgspec.json.decode((folder / _STAGES).read_bytes(), type=list[tuple[str, int]])
    with np.load(folder / _ANSWERS) as kept:
        return [
            (name, None if at < 0 else {output: kept[f"{at}/{place}"] for place, output in enumerate(names[1])})
            for name, at in stages
        ]


def _main(folder: Path) -> None:
    from assay.models.telemetry import forbid_telemetry

    forbid_telemetry()
    import openvino

    request = msgspec.json.decode((folder / _ASKED).read_bytes(), type=_Asked)
    with np.load(folder / _INPUTS) as kept:
        inputs = {name: kept[str(at)] for at, name in enumerate(request.inputs)}
    core = openvino.Core()
    read = core.read_model(request.model)
    stages = [("", _evaluated(read, inputs))]
    answers: list[list[Tensor]] = []
    core.compile_model(read, "CPU", request.config)
    dumps = [(int(match[1]), match[2], path) for path in folder.glob("*.xml") if (match := _DUMP.fullmatch(path.name))]
    for _, name, path in sorted(dumps):
        try:
            outputs = _evaluated(core.read_model(str(path)), inputs)
        except RuntimeError:
            outputs = None
        stages.append((name.replace("ov::pass::", ""), outputs))
    index = []
    for name, outputs in stages:
        if outputs is not None and not (answers and _same(answers[-1], outputs)):
            answers.append(outputs)
        index.append((name, len(answers) - 1 if outputs is not None else -1))
    arrays: dict[str, Any] = {
        f"{at}/{place}": array for at, each in enumerate(answers) for place, array in enumerate(each)
    }
    np.savez(folder / _ANSWERS, **arrays)
    (folder / _STAGES).write_bytes(msgspec.json.encode(index))


def _same(mine: list[Tensor], theirs: list[Tensor]) -> bool:
    return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(mine, theirs, strict=True))


def _evaluated(model: Any, inputs: Mapping[str, Tensor]) -> list[Tensor] | None:
    """By the reference code of the library; None where that lacks an operator, or a shape or type is not known."""
    import openvino

    try:
        arrays = [next(inputs[name] for name in inputs if name in port.get_names()) for port in model.inputs]
        outputs = [openvino.Tensor(port.get_element_type(), port.get_shape()) for port in model.outputs]
        if not model.evaluate(outputs, [openvino.Tensor(np.asarray(array, order="C")) for array in arrays]):
            return None
    except (RuntimeError, StopIteration):
        return None
    return [tensor.data.copy() for tensor in outputs]


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
