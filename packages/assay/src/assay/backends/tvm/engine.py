"""An engine of TVM: an executable, the virtual machine that runs it, and what both tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.check_inputs import check_inputs
from assay.backends.contraction import contracted
from assay.backends.onnx_loader import Signature
from assay.backends.placements import coarsest, count
from assay.backends.trace_events import Timed, write_timeline
from assay.backends.tvm.compile import features_of
from assay.backends.tvm.errors import tvm_failure
from assay.core.engine_info import EngineInfo, Placement
from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Lowering, NotRunnable, Unsupported
from assay.models.files import file_digest
from assay.ports import Tensor, Tensors

ARTIFACT = "model.so"
DECLARED = "declared.json"
_TRACED_CALLS = 5


class Declared(msgspec.Struct, frozen=True):
    """What the artifact itself has forgotten: names, types, and the target it was built for."""

    signature: Signature
    target: dict[str, str | int]
    digest: str = ""
    records: str = ""
    """How many of its kernels have the schedule of a tuned record; "" where none was asked for."""


class TVMEngine:
    """An executable and, from the first run on, a virtual machine for it."""

    def __init__(self, executable: Any, declared: Declared, options: dict[str, Option], threads: int) -> None:
        self._executable, self._declared, self._options, self._threads = executable, declared, options, threads
        self._kind = str(declared.target["kind"])
        self._machine: Any = None
        self._last: Tensors = {}

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises ValueError for other inputs than declared, NotRunnable where there is no such device."""
        check_inputs(tensors, self._declared.signature.inputs)
        machine = self._ready()
        self._last = tensors
        outputs = self._call(machine, tensors)
        names = [spec.name for spec in self._declared.signature.outputs]
        return {name: _array(name, value) for name, value in zip(names, outputs, strict=True)}

    def device_call(self, tensors: Tensors) -> Callable[[], float] | None:
        """On CUDA: one call on tensors that lie there, timed by two events on the default stream, which TVM runs on. None
        elsewhere."""
        if self._kind != "cuda":
            return None
        from assay.backends.cuda import TimedCall, cuda

        check_inputs(tensors, self._declared.signature.inputs)
        machine = self._ready()
        with _translated():
            feeds = self._fed(tensors)

        def enqueue() -> None:
            with _translated():
                machine["main"](*feeds)

        return TimedCall(cuda(), 0, enqueue)

    def save(self, folder: Path) -> None:
        """One shared library for this kind of processor or device, linked by the system's C++ compiler."""
        try:
            self._executable.export_library(str(folder / ARTIFACT))
        except (RuntimeError, OSError) as error:
            text = " ".join(str(error).split())[:500]
            raise Lowering(noted(BackendCode.LINKING_FAILED, error=text)) from error
        declared = msgspec.structs.replace(self._declared, digest=file_digest(folder / ARTIFACT))
        (folder / DECLARED).write_bytes(msgspec.json.encode(declared))

    def facts(self) -> EngineInfo:
        """Placements are the kernels that one run called, each in the type of its last argument, which is its result."""
        import tvm

        placements = self._called() if self._last else ()
        features = features_of(self._declared.target)
        target = {f"target.{name}": str(value) for name, value in self._declared.target.items()}
        return EngineInfo(
            backend_version=tvm.__version__,
            precision=coarsest(placements),
            placements=placements,
            options={
                **target,
                "optimization": str(self._options["optimization"]),
                "schedule": str(self._options["schedule"]),
                "threads": str(self._threads),
                **({"records": self._declared.records} if self._declared.records else {}),
            },
            numeric_defaults=contracted("mcpu", self._options["cpu"], features, placements),
        )

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """The kernels of a few calls by the host's clock, each awaited: this version (0.27) has no profiler of its own for Relax."""
        self.run(tensors)
        calls: list[list[Timed]] = []
        begun: list[float] = []

        def note(_function: Any, name: str, before: bool, _result: Any, *_arguments: Any) -> int:
            if before:
                begun.append(time.perf_counter())
            elif begun:
                self._device().sync()
                calls[-1].append((name, time.perf_counter() - begun.pop(), {"target": self._kind}))
            return 0

        machine = self._ready()
        machine.set_instrument(note)
        try:
            for _ in range(_TRACED_CALLS):
                calls.append([])
                self._call(machine, tensors)
        finally:
            self._machine = None  # as in _called
        write_timeline(folder / "tvm.json", calls)

    def _device(self) -> Any:
        import tvm

        return tvm.cpu() if self._kind == "llvm" else tvm.device(self._kind)

    def _ready(self) -> Any:
        import tvm
        from tvm import relax

        if self._machine is None:
            require_device(self._kind)
            self._machine = relax.VirtualMachine(self._executable, self._device())
        # Of the process, so it is set again in case another engine set it: mode 1 prefers the big cores.
        tvm.get_global_func("runtime.config_threadpool")(1, self._threads)
        return self._machine

    def _call(self, machine: Any, tensors: Tensors) -> Sequence[Any]:
        with _translated():
            result = machine["main"](*self._fed(tensors))
        return [result] if len(self._declared.signature.outputs) == 1 else list(result)

    def _fed(self, tensors: Tensors) -> list[Any]:
        import tvm

        inputs = self._declared.signature.inputs
        return [tvm.runtime.tensor(np.asarray(tensors[spec.name], order="C"), self._device()) for spec in inputs]

    def _called(self) -> tuple[Placement, ...]:
        rows: list[tuple[str, str, str]] = []

        def note(_function: Any, name: str, before: bool, _result: Any, *arguments: Any) -> int:
            if before and not name.startswith("vm."):
                types = [str(argument.dtype) for argument in arguments if hasattr(argument, "dtype")]
                rows.append((name, self._kind, types[-1] if types else ""))
            return 0

        machine = self._ready()
        machine.set_instrument(note)
        try:
            self._call(machine, self._last)
        finally:
            # There is no way back to a machine without an instrument (0.27): the next run makes a new one.
            self._machine = None
        return tuple(msgspec.structs.replace(placement, role=_role(placement.operator)) for placement in count(rows))


@contextmanager
def _translated() -> Iterator[None]:
    """What TVM raises while it runs, as what it says."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError) as error:
        raise tvm_failure(error, step="running") from error


def _role(kernel: str) -> str:
    if kernel.startswith("fused_"):
        return "fused"
    for role, kinds in (("cast", ("cast", "quantize", "dequantize")), ("reformat", ("layout_transform", "transpose"))):
        if kernel.rstrip("0123456789") in kinds:
            return role
    return "compute"


def require_device(kind: str) -> None:
    import tvm

    if kind == "llvm" or tvm.device(kind).exist:
        return
    if tvm.get_global_func(f"ffi.Module.load_from_bytes.{kind}", allow_missing=True) is None:
        raise NotRunnable(noted(BackendCode.NO_RUNTIME_FOR, library="tvm", version=tvm.__version__, device=kind))
    raise NotRunnable(noted(BackendCode.NO_SUCH_DEVICE, device=kind))


def _array(name: str, value: Any) -> Tensor:
    """A copy. The result of the operator Shape is a shape and no tensor, of int64 like ONNX's."""
    import tvm

    if isinstance(value, tvm.runtime.Tensor):
        return np.array(value.numpy())
    if isinstance(value, tvm.runtime.ShapeTuple):
        return np.array(list(value), np.int64)
    raise Unsupported(noted(BackendCode.NO_TENSOR, role="Output", name=name))
