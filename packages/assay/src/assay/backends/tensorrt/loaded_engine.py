"""A deserialized engine: tensors by name, `execute_async_v3`, outputs whose size is known only after running."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.check_inputs import check_inputs
from assay.backends.cuda import Cuda, TimedCall
from assay.backends.onnx_loader import Signature
from assay.backends.placements import coarsest
from assay.backends.tensorrt.api import Api
from assay.backends.tensorrt.inspector import parse_layers
from assay.backends.tensorrt.log_lines import Listener, failure, remarks
from assay.backends.tensorrt.settings import Settings
from assay.backends.tensorrt.warnings import PREFIX
from assay.core.dtype import dtype_name, numpy_dtype
from assay.core.engine_info import EngineInfo
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import NotRunnable, Unsupported, WrongInput
from assay.models.files import file_digest
from assay.ports import NativeText, Tensor, Tensors

PLAN, DECLARED = "model.plan", "declared.json"
_TYPES = {
    "FLOAT": "float32", "HALF": "float16", "BF16": "bfloat16", "FP8": "float8_e4m3fn", "BOOL": "bool", "UINT8": "uint8",
    "INT8": "int8", "INT32": "int32", "INT64": "int64",
}  # fmt: skip


class Declared(msgspec.Struct, frozen=True):
    """What the plan has forgotten: the ONNX signature, and what was asked for."""

    signature: Signature
    settings: Settings
    digest: str = ""
    sizes: dict[str, str] = {}


class TensorRTEngine:
    """One engine, one context, one stream."""

    def __init__(self, trt: Any, api: Api, plan: bytes, declared: Declared, listener: Listener, device: Cuda) -> None:
        self._trt, self._api, self._plan, self._declared = trt, api, plan, declared
        self._listener, self._device = listener, device
        self._runtime = trt.Runtime(listener.logger)
        self._runtime.error_recorder = listener.recorder
        if declared.settings.version_compatible:
            # Such a plan carries a runtime of its own, which is code of the host: it runs only where that is allowed.
            self._runtime.engine_host_code_allowed = True
        self._engine = self._runtime.deserialize_cuda_engine(plan)
        if self._engine is None:
            raise failure(listener.lines, "reading")
        self._context = self._engine.create_execution_context()
        if self._context is None:
            raise failure(listener.lines, "preparing")
        self._stream = device.stream()
        self._types = {name: self._type(name) for name in self._names()}
        for text in remarks(listener.lines):
            warnings.warn(NativeText(f"{PREFIX}{text}"), stacklevel=2)

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises ValueError for inputs that the model does not declare, and for shapes outside of the profile."""
        signature = self._declared.signature
        check_inputs(tensors, signature.inputs)
        held: list[int] = []
        kept: list[Tensor] = []
        try:
            for spec in signature.inputs:
                if spec.name in self._types:
                    kept.append(self._feed(spec.name, tensors[spec.name], held))
            results = {spec.name: self._room(spec.name, held) for spec in signature.outputs}
            self._enqueue()
            self._device.wait(self._stream)
            return {name: self._take(name, room) for name, room in results.items()}
        finally:
            self._release(held)

    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        """One `execute_async_v3` on inputs in place, timed by two events on its stream; None where the data decide the size of
        an output, which is then allocated again in every run."""
        signature = self._declared.signature
        check_inputs(tensors, signature.inputs)
        held: list[int] = []
        try:
            kept = [
                self._feed(spec.name, tensors[spec.name], held) for spec in signature.inputs if spec.name in self._types
            ]
            rooms = [self._room(spec.name, held) for spec in signature.outputs]
        except BaseException:
            self._release(held)
            raise
        if not all(isinstance(room, tuple) for room in rooms):
            self._release(held)
            return None
        call = TimedCall(self._device, self._stream, self._enqueue, kept)
        weakref.finalize(call, self._release, held)
        return call

    def _enqueue(self) -> None:
        self._listener.lines.clear()
        if not self._context.execute_async_v3(self._stream):
            raise failure(self._listener.lines, "running")

    def _release(self, held: list[int]) -> None:
        for pointer in held:
            self._device.release(pointer)

    def save(self, folder: Path) -> None:
        """The plan: for this version of TensorRT and this kind of GPU, or for later versions where it was asked for."""
        (folder / PLAN).write_bytes(self._plan)
        declared = msgspec.structs.replace(self._declared, digest=file_digest(folder / PLAN))
        (folder / DECLARED).write_bytes(msgspec.json.encode(declared))

    def facts(self) -> EngineInfo:
        """Placements are the layers of the engine inspector; `precision` is the coarsest that any of them computes in."""
        inspector = self._engine.create_engine_inspector()
        inspector.execution_context = self._context
        inspected = parse_layers(str(inspector.get_engine_information(self._trt.LayerInformationFormat.JSON)))
        placements = inspected.placements()
        settings = {name: str(value) for name, value in msgspec.to_builtins(self._declared.settings).items()}
        return EngineInfo(
            backend_version=str(self._trt.__version__),
            precision=coarsest(placement for placement in placements if placement.role in ("compute", "fused"))
            or coarsest(placements),
            placements=placements,
            sparse_kernels=inspected.sparse_kernels(),
            options={
                **settings,
                **self._declared.sizes,
                "device_memory_bytes": str(self._api.device_bytes(self._engine)),
            },
        )

    def _names(self) -> list[str]:
        return [str(self._engine.get_tensor_name(index)) for index in range(self._engine.num_io_tensors)]

    def _type(self, name: str) -> str:
        kind = self._engine.get_tensor_dtype(name)
        known = _TYPES.get(str(getattr(kind, "name", kind)).rpartition(".")[2])
        if known is None:
            raise Unsupported(noted(BackendCode.TYPE_NOT_PASSED, tensor=name, dtype=str(kind), library="tensorrt"))
        return known

    def _feed(self, name: str, array: Tensor, held: list[int]) -> Tensor:
        """The array is returned so that the caller keeps it: an input that decides shapes is read from the host's memory."""
        fed = np.asarray(narrowed(name, array, self._types[name]), order="C")
        if not self._context.set_input_shape(name, tuple(fed.shape)):
            raise WrongInput(noted(BackendCode.OUTSIDE_PROFILE, input=name, shape=fed.shape))
        if self._engine.get_tensor_location(name) == self._trt.TensorLocation.HOST:
            self._context.set_tensor_address(name, int(fed.ctypes.data))
            return fed
        pointer = self._device.allocate(fed.nbytes)
        held.append(pointer)
        self._device.upload(pointer, fed)
        self._context.set_tensor_address(name, pointer)
        return fed

    def _room(self, name: str, held: list[int]) -> Any:
        """An address for an output of known size, else an allocator that TensorRT asks when it knows."""
        shape = tuple(int(size) for size in self._context.get_tensor_shape(name))
        if any(size < 0 for size in shape):
            allocator = output_allocator(self._trt, self._device, held)
            self._context.set_output_allocator(name, allocator)
            return allocator
        size = int(np.prod(shape, dtype=np.int64)) * numpy_dtype(self._types[name]).itemsize
        pointer = self._device.allocate(size)
        held.append(pointer)
        self._context.set_tensor_address(name, pointer)
        return pointer, shape

    def _take(self, name: str, room: Any) -> Tensor:
        pointer, shape = room if isinstance(room, tuple) else (room.pointer, room.shape)
        return self._device.download(pointer, shape, numpy_dtype(self._types[name]))


def narrowed(name: str, array: Tensor, engine_type: str) -> Tensor:
    """8.6 has no int64: its engines take int32 where the model says int64. Raises ValueError for values that do not fit."""
    dtype = dtype_name(array.dtype)
    if dtype == engine_type:
        return array
    if (dtype, engine_type) != ("int64", "int32"):
        raise WrongInput(noted(BackendCode.INPUT_TYPE, input=name, dtype=str(dtype), wanted=str(engine_type)))
    limits = np.iinfo(np.int32)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise WrongInput(noted(BackendCode.INPUT_TOO_LARGE, input=name, dtype="int32", library="tensorrt"))
    return array.astype(np.int32)


def output_allocator(trt: Any, device: Cuda, held: list[int]) -> Any:
    """For outputs that the data decide, as of NonZero."""

    class Allocator(trt.IOutputAllocator):  # type: ignore[misc]
        def __init__(self) -> None:
            trt.IOutputAllocator.__init__(self)
            self.pointer = 0
            self.shape: tuple[int, ...] = ()

        def reallocate_output(self, _name: str, _memory: int, size: int, _alignment: int) -> int:
            try:
                self.pointer = device.allocate(size)
            except (MemoryError, NotRunnable):
                return 0  # How TensorRT is told that there is none; it fails then, and says why.
            held.append(self.pointer)
            return self.pointer

        def reallocate_output_async(self, name: str, memory: int, size: int, alignment: int, _stream: int) -> int:
            return self.reallocate_output(name, memory, size, alignment)

        def notify_shape(self, _name: str, shape: Any) -> None:
            self.shape = tuple(int(size) for size in shape)

    return Allocator()
