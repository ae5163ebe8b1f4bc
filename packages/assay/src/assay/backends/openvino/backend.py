"""OpenVINO on the CPU, its precision pinned and read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.availability import installed
from assay.backends.check_inputs import check_inputs
from assay.backends.errors import openvino_failure, unusable_artifact, without_sparse
from assay.backends.flow_options import positive, resolve_options
from assay.backends.openvino.counters import counted_calls, counting, operator_medians, timed_nodes
from assay.backends.openvino.defaults import DEFAULTS_OFF, GROUP_SIZE, NONE, numeric_defaults, turned_off
from assay.backends.openvino.older import exported, library, of_release
from assay.backends.openvino.passes import after_each_pass
from assay.backends.openvino.runtime_graph import DEVICE, NAMES, numbers_in_bytes, placements
from assay.backends.openvino.warnings import read_warnings
from assay.backends.packing import FOUR_BIT, pack, unpack
from assay.backends.plain_code import openvino_code
from assay.backends.processor_limits import ONEDNN
from assay.backends.trace_events import write_timeline
from assay.core.dtype import numpy_dtype
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.core.measurement import OperatorTime
from assay.core.model import TensorSpec
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_ARTIFACT = "model.blob"
_DECLARED = "declared.json"
_EXTENSION = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "int4": "i4",
    "uint4": "u4",
}
"""What a profile of operators takes at most; two calls at least, of which the first does not count."""
_TIES = "ties-after-zero-point"
_HINTS = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "default": ""}


class Declared(msgspec.Struct, frozen=True):
    """What the ONNX file calls its inputs and outputs; openvino renames and drops some. And whether it has numbers in bytes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    numbers_in_bytes: bool = True


class OpenVINO:
    """Conformance: `assay.testing.check_backend`.

    Left alone, the CPU plug-in computes in bfloat16 where the processor can; asked for float16 it gives bfloat16
    (2026.4). So the precision is requested, unless the flow says `default`, and the actual one is in the facts.
    """

    name = "openvino"
    accepts = "onnx"
    dynamic = True
    options = (
        OptionSpec(
            "precision", "float32", tuple(_HINTS), "the type in which it may multiply; default: as openvino chooses"
        ),
        OptionSpec("threads", 1, help="threads of one inference"),
        *DEFAULTS_OFF,
        ONEDNN,
    )
    flows = (
        # It has no kernels for double on a CPU, and converts (2026.4). Its FakeQuantize adds the zero point before it rounds.
        # Activations quantized while it runs are no float32, so that the flow that promises float32 turns that off.
        Flow(
            name="openvino-f32",
            backend="openvino",
            options={GROUP_SIZE: NONE},
            allowances=("double-in-float32", _TIES),
        ),
        # As it is deployed by whoever pins the precision and nothing else.
        Flow(name="openvino", backend="openvino", allowances=("double-in-float32", _TIES)),
        Flow(
            name="openvino-bf16",
            backend="openvino",
            options={"precision": "bfloat16"},
            precision="bfloat16",
            allowances=(_TIES,),
        ),
        Flow(
            name="openvino-int8",
            backend="openvino",
            transforms=("int8-nncf",),
            precision="int8",
            allowances=(_TIES,),
        ),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("openvino", "openvino", "openvino")

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of its output."""
        return read_warnings(text)

    plain_packages = ("openvino",)

    def plain_code(self, flow: Flow) -> str:
        """Compiled with the properties of the flow."""
        return openvino_code(_config(resolve_options(self.options, flow), flow))

    def saved_code(self, flow: Flow) -> str:
        """Compiled, exported and imported again."""
        return openvino_code(_config(resolve_options(self.options, flow), flow), saved=True)

    def after_each_pass(
        self, model: Path, flow: Flow, inputs: Tensors, folder: Path
    ) -> list[tuple[str, dict[str, Tensor] | None]]:
        """See `ports.ShowsEachPass`."""
        declared = declared_names(model)
        config = _config(resolve_options(self.options, flow), flow)
        return after_each_pass(model, config, (declared.inputs, declared.outputs), inputs, folder)

    def prepare(self) -> None:
        """Import openvino."""
        library()

    def lower(self, model: Path, flow: Flow) -> OpenVINOEngine:
        """Read and compile the file in place, so that external data is found beside it."""
        options = resolve_options(self.options, flow)
        config = _config(options, flow)
        core = library().Core()
        try:
            read = core.read_model(str(model))
            declared = msgspec.structs.replace(declared_names(model), numbers_in_bytes=numbers_in_bytes(read))
            compiled = core.compile_model(read, DEVICE, of_release(core, config))
            return OpenVINOEngine(core, compiled, options, declared)
        except RuntimeError as error:
            raise without_sparse(model, openvino_failure(str(error)), str(error), "OpenVINO") from error

    def load(self, folder: Path, flow: Flow) -> OpenVINOEngine:
        """The compiled model, imported with the flow's precision and threads."""
        options = resolve_options(self.options, flow)
        config = _config(options, flow)
        try:
            blob = (folder / _ARTIFACT).read_bytes()
            declared = msgspec.json.decode((folder / _DECLARED).read_bytes(), type=Declared)
            core = library().Core()
            compiled = core.import_model(blob, DEVICE, of_release(core, config))
        except (OSError, msgspec.DecodeError, RuntimeError) as error:
            raise unusable_artifact("openvino", error) from error
        try:
            return OpenVINOEngine(core, compiled, options, declared, folder / _ARTIFACT)
        except RuntimeError as error:
            raise openvino_failure(str(error)) from error


class OpenVINOEngine:
    """One compiled model and one request. Outputs carry the ONNX names, in the model's order."""

    def __init__(
        self, core: Any, compiled: Any, options: dict[str, Option], declared: Declared, saved: Path | None = None
    ) -> None:
        self._core, self._saved = core, saved  # without its core a compiled model of 2023.0 knows no property
        self._compiled, self._options, self._declared = compiled, options, declared
        self._inputs = _specs(compiled.inputs, declared.inputs)
        self._outputs = [spec.name for spec in _specs(compiled.outputs, declared.outputs)]
        # An input that no node reads is dropped by openvino 2026.4; ONNX runtimes take it and ignore it.
        self._unread = set(declared.inputs) - {spec.name for spec in self._inputs}
        self._request = compiled.create_infer_request()

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises ValueError for an input of another dtype or shape: openvino 2026.4 converts the one silently and
        reads past the end of the other."""
        read = {name: array for name, array in tensors.items() if name not in self._unread}
        check_inputs(read, self._inputs)
        try:
            self._request.infer([_tensor(read[spec.name]) for spec in self._inputs])
        except RuntimeError as error:
            raise openvino_failure(str(error)) from error
        return {name: _array(self._request.get_output_tensor(i)) for i, name in enumerate(self._outputs)}

    def bind(self, tensors: Tensors) -> Callable[[], object]:
        """Inputs copied in once; outputs stay in the request's memory, as `benchmark_app` leaves them."""
        self.run(tensors)  # says what is wrong with the inputs
        for index, spec in enumerate(self._inputs):
            tensor = _tensor(tensors[spec.name])
            # A copy: the next `run` writes its own inputs into it.
            own = tensor if isinstance(tensor, library().Tensor) else library().Tensor(tensor)
            self._request.set_input_tensor(index, own)
        infer = self._request.infer
        return lambda: infer(share_outputs=True)

    def save(self, folder: Path) -> None:
        """The compiled model as one file; it belongs to this version of openvino and this kind of processor."""
        (folder / _ARTIFACT).write_bytes(exported(self._compiled))
        (folder / _DECLARED).write_bytes(msgspec.json.encode(self._declared))

    def operator_times(self, tensors: Tensors) -> tuple[OperatorTime, ...]:
        """From the plug-in's performance counters; the first call apart."""
        return operator_medians(self._counted(tensors)[1:])

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """The performance counters have durations alone."""
        write_timeline(folder / "openvino.json", map(timed_nodes, self._counted(tensors)))

    def _counted(self, tensors: Tensors) -> list[list[Any]]:
        """By a copy of the engine that counts: counting costs time. [] where nothing was saved."""
        if self._saved is None:
            return []
        compiled = self._core.import_model(self._saved.read_bytes(), DEVICE, counting(self._compiled))
        engine = OpenVINOEngine(self._core, compiled, self._options, self._declared)
        return counted_calls(lambda: engine.run(tensors), engine._request)

    def facts(self) -> EngineInfo:
        """`precision` is what the property says after compiling; placements are the nodes of the executed graph."""
        hint = self._compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name()
        threads = self._compiled.get_property("INFERENCE_NUM_THREADS")
        return EngineInfo(
            backend_version=library().get_version().partition("-")[0],
            precision=NAMES.get(hint, hint),
            placements=placements(self._compiled.get_runtime_model(), numbers=self._declared.numbers_in_bytes),
            options={**{name: str(value) for name, value in self._options.items()}, "threads": str(threads)},
            numeric_defaults=numeric_defaults(self._compiled, self._options),
        )


def _config(options: dict[str, Option], flow: Flow) -> dict[str, str | int]:
    hint = _HINTS[str(options["precision"])]
    config: dict[str, str | int] = {"INFERENCE_NUM_THREADS": positive(options, "threads", flow)}
    return {**config, **({"INFERENCE_PRECISION_HINT": hint} if hint else {}), **turned_off(options)}


def declared_names(model: Path) -> Declared:
    """The names of the file's graph, initializers apart."""
    import onnx

    graph = onnx.load(model, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = tuple(value.name for value in graph.input if value.name not in constants)
    return Declared(inputs, tuple(value.name for value in graph.output))


def _specs(ports: Sequence[Any], declared: Sequence[str]) -> list[TensorSpec]:
    """A port carries every name that the graph had for its tensor: the declared one is ours, each taken once."""
    specs: list[TensorSpec] = []
    for index, port in enumerate(ports):
        taken = {spec.name for spec in specs}
        names = port.get_names()
        # An imported blob has forgotten the name of an input that goes straight to an output: then its place tells.
        place = declared[index] if len(ports) == len(declared) else port.get_any_name()
        left = [name for name in declared if name not in taken]
        # Two outputs that are one tensor, such as x and Dropout(x), have one name here.
        free = left[0] if place in taken and left else place
        ours = next((name for name in left if name in names), free)
        specs.append(_spec(port, ours))
    return specs


def _spec(port: Any, name: str) -> TensorSpec:
    kind = port.get_element_type().get_type_name()
    if kind not in NAMES:
        # Text is refused too: a graph that passes it through corrupts the heap (openvino 2026.4.1).
        raise Unsupported(noted(BackendCode.TYPE_NOT_PASSED, tensor=name, dtype=kind, library="openvino"))
    shape = port.get_partial_shape()
    return TensorSpec(name, NAMES[kind], tuple(dim.get_length() if dim.is_static else "?" for dim in shape))


def _tensor(array: Tensor) -> Any:
    """openvino 2026.4 reads an ml_dtypes array as if it were float16: such arrays go in with their type said."""
    if array.dtype.name not in _EXTENSION:
        return array
    raw = pack(array) if array.dtype.name in FOUR_BIT else np.ascontiguousarray(array).view(np.uint8)
    openvino = library()
    return openvino.Tensor(raw, openvino.Shape(array.shape), getattr(openvino.Type, _EXTENSION[array.dtype.name]))


def _array(tensor: Any) -> Tensor:
    """A copy. `Tensor.data` calls bfloat16 float16 and float8 uint8, and leaves int4 packed two a byte (2026.4)."""
    name = NAMES[tensor.element_type.get_type_name()]
    data: Tensor = tensor.data
    if name in FOUR_BIT:
        return unpack(data.view(np.uint8).reshape(-1), name, tuple(tensor.shape))
    dtype = numpy_dtype(name)
    return data.copy() if data.dtype == dtype else data.view(dtype).copy()
