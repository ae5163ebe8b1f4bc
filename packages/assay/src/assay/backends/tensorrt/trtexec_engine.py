"""A plan that trtexec built, run by trtexec: every call is a process of its own, so the seconds of a call are its."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.backends.check_inputs import check_inputs
from assay.backends.onnx_loader import Signature
from assay.backends.placements import coarsest
from assay.backends.tensorrt.exports import Profile, Query, parse_profile, parse_times
from assay.backends.tensorrt.inspector import parse_layers
from assay.backends.tensorrt.loaded_engine import narrowed
from assay.backends.tensorrt.settings import Settings
from assay.backends.tensorrt.trtexec import input_file, mode_of, once, run_command, timed
from assay.backends.tensorrt.trtexec_program import Program, outputs_of, run
from assay.backends.trace_events import Timed, write_timeline
from assay.core.engine_info import EngineInfo
from assay.core.measurement import OperatorTime
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Lowering
from assay.models.files import file_digest
from assay.ports import Tensor, Tensors

PLAN, LAYERS, DECLARED = "model.plan", "model.layers.json", "declared.json"
_TIMES, _PROFILE = "times.json", "profile.json"


class Declared(msgspec.Struct, frozen=True):
    """What the plan has forgotten. `digest` is that of the plan, `version` that of the trtexec which built it."""

    signature: Signature
    settings: Settings
    version: tuple[int, int, int]
    digest: str = ""
    sizes: dict[str, str] = {}


class TrtexecEngine:
    """One plan in a folder, and the program that runs it."""

    def __init__(self, program: Program, folder: Path, declared: Declared) -> None:
        self._program, self._folder, self._declared = program, folder, declared

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises ValueError for inputs that the model does not declare, Unavailable where there is no device."""
        with tempfile.TemporaryDirectory(prefix="trtexec-") as place:
            printed = run([*self._command(tensors, Path(place)), *once()], Path(place), "running")
            outputs = outputs_of(printed, Path(place))
        missing = [spec.name for spec in self._declared.signature.outputs if spec.name not in outputs]
        if missing:
            raise Lowering(noted(BackendCode.TOOL_WROTE_NO, tool="trtexec", file=missing[0]))
        return {spec.name: outputs[spec.name] for spec in self._declared.signature.outputs}

    def call_times(self, tensors: Tensors, seconds: float) -> tuple[float, ...]:
        """Seconds of each inference on the device, copies to and from it included where the mode has them."""
        return tuple(query.latency_s for query in self._timed(tensors, seconds)[0])

    def operator_times(self, tensors: Tensors) -> tuple[OperatorTime, ...]:
        """Of each layer, its median over the iterations of the profile."""
        layers = {layer.name: layer for layer in parse_layers((self._folder / LAYERS).read_text()).layers}
        timed_layers = ((layer_time, layers.get(layer_time.name)) for layer_time in self._timed(tensors, 1)[1].layers)
        return tuple(
            OperatorTime(
                layer_time.name,
                layer.operator if layer else layer_time.name,
                layer_time.median_s,
                layer.precision if layer else "",
            )
            for layer_time, layer in timed_layers
        )

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """One call, of the medians that `--exportProfile` gives: it has durations alone."""
        layers: list[Timed] = [(layer.name, layer.median_s, {}) for layer in self._timed(tensors, 1)[1].layers]
        write_timeline(folder / "tensorrt.json", [layers])

    def save(self, folder: Path) -> None:
        """The plan and its layers."""
        for name in (PLAN, LAYERS):
            (folder / name).write_bytes((self._folder / name).read_bytes())
        declared = msgspec.structs.replace(self._declared, digest=file_digest(folder / PLAN))
        (folder / DECLARED).write_bytes(msgspec.json.encode(declared))

    def facts(self) -> EngineInfo:
        """Placements are the layers of `--exportLayerInfo`; options hold the mode in which this version times."""
        inspected = parse_layers((self._folder / LAYERS).read_text(), "--exportLayerInfo")
        placements = inspected.placements()
        settings = msgspec.to_builtins(self._declared.settings)
        mode = msgspec.to_builtins(mode_of((), self._program.version[0]))
        options = {**settings, **self._declared.sizes, **{f"mode.{name}": value for name, value in mode.items()}}
        return EngineInfo(
            backend_version=self._program.version_text,
            precision=coarsest(placement for placement in placements if placement.role in ("compute", "fused"))
            or coarsest(placements),
            placements=placements,
            sparse_kernels=inspected.sparse_kernels(),
            options={name: json.dumps(value).strip('"') for name, value in options.items()},
        )

    def _timed(self, tensors: Tensors, seconds: float) -> tuple[tuple[Query, ...], Profile]:
        with tempfile.TemporaryDirectory(prefix="trtexec-") as place:
            folder, major = Path(place), self._program.version[0]
            command = self._command(tensors, folder)
            run([*command, *timed(max(1, math.ceil(seconds)), _TIMES, _PROFILE, major)], folder, "timing")
            times = parse_times((folder / _TIMES).read_text(), _TIMES)
            return times, parse_profile((folder / _PROFILE).read_text(), _PROFILE)

    def _command(self, tensors: Tensors, folder: Path) -> list[str]:
        inputs = self._declared.signature.inputs
        check_inputs(tensors, inputs)
        for place, spec in enumerate(inputs):
            # Until 10 there was no int64.
            dtype = "int32" if spec.dtype == "int64" and self._program.version[0] < 10 else spec.dtype
            (folder / input_file(place)).write_bytes(narrowed(spec.name, tensors[spec.name], dtype).tobytes())
        shapes: Mapping[str, tuple[int, ...]] = {name: tensor.shape for name, tensor in tensors.items()}
        return run_command(self._program.path, self._folder / PLAN, inputs, shapes, self._declared.settings)
