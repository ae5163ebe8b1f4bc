"""Apache TVM: ONNX through Relax, compiled for the CPU, or ahead of time for CUDA and OpenCL."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.artifacts import check_artifact
from assay.backends.availability import installed
from assay.backends.check_inputs import check_inputs
from assay.backends.contraction import contracted
from assay.backends.cpu_features import check_processor
from assay.backends.onnx_loader import Signature, load_checked, refuse_types, signature_of
from assay.backends.options import positive, resolve_options
from assay.backends.placements import coarsest, count
from assay.backends.plain_code import tvm_code
from assay.backends.trace_events import Timed, write_timeline
from assay.backends.tvm_compile import compiled, features_of, target_of
from assay.backends.tvm_errors import broken, tvm_failure
from assay.backends.tvm_passes import changed_passes
from assay.backends.tvm_warnings import read_warnings
from assay.core.engine_info import EngineInfo, Placement
from assay.core.flow import Flow, Option
from assay.core.native_warning import NativeWarning
from assay.errors import NotRunnable, Unsupported, UsageError
from assay.models.files import file_digest
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_ARTIFACT = "model.so"
_DECLARED = "declared.json"
_TRACED_CALLS = 5
_FLOATS = ("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2")
_TYPES = frozenset({"bool", *_FLOATS, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))})


class Declared(msgspec.Struct, frozen=True):
    """What the artifact itself has forgotten: names, types, and the target it was built for."""

    signature: Signature
    target: dict[str, str | int]
    digest: str = ""


class TVM:
    """Conformance: `assay.testing.check_backend`.

    Targets are dictionaries: a string with options is refused since 0.27. Metal and Vulkan are not offered: in the wheel of
    0.27 the first kills the process and the second has no code generator.
    """

    name = "tvm"
    accepts = "onnx"
    dynamic = True
    options = (
        OptionSpec("target", "llvm", ("llvm", "cuda", "opencl"), "what code is generated for"),
        OptionSpec("optimization", "full", ("full", "none"), "fusion and LLVM's -O3, or neither"),
        OptionSpec(
            "schedule",
            "default",
            ("default", "dlight"),
            "TVM's default, or DLight's rules for a CPU (target llvm, optimization full)",
        ),
        OptionSpec("disabled_passes", "", help="passes to leave out, with a semicolon between two"),
        OptionSpec(
            "cpu",
            "host",
            help='processor that LLVM may use the instructions of ("host", "generic", "znver4")',
            tried=("generic",),
            of_processor=True,
        ),
        OptionSpec("arch", "sm_90", help="CUDA architecture"),
        OptionSpec("threads", 1, help="threads of one inference"),
    )
    flows = (
        Flow(name="tvm-llvm", backend="tvm"),
        Flow(name="tvm-llvm-o0", backend="tvm", options={"optimization": "none"}),
        Flow(name="tvm-cuda", backend="tvm", options={"target": "cuda"}, device="cuda"),
        Flow(name="tvm-opencl", backend="tvm", options={"target": "opencl"}, device="opencl"),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("apache-tvm", "tvm", "tvm")

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of its output."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Import tvm and its ONNX importer."""
        # Else it binds the calling thread to the first core of all, whatever the process may use, and with it the threads that
        # other backends start later (threading_backend.cc).
        os.environ.setdefault("TVM_BIND_THREADS", "0")
        import tvm.relax.frontend.onnx  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> TVMEngine:
        """Import, fuse, compile. A device is not needed for it."""
        options = resolve_options(self.options, flow)
        threads = positive(options, "threads", flow)
        target = target_of(options, flow)
        proto = load_checked(model)
        signature = signature_of(proto)
        refuse_types(signature, _TYPES, "tvm")
        optimize, dlight = options["optimization"] == "full", _by_dlight(options, flow)
        executable = compiled(proto, target, optimize=optimize, dlight=dlight, disabled=_disabled(options))
        return TVMEngine(executable, Declared(signature, target), options, threads)

    plain_packages = ("apache-tvm",)

    def plain_code(self, flow: Flow) -> str:
        """Imported, compiled and run in one process, for the processor: triage has no device."""
        options = resolve_options(self.options, flow)
        return tvm_code(str(options["cpu"]), _disabled(options), optimize=options["optimization"] == "full")

    levels = ({"optimization": "none"}, {"optimization": "full"})

    def passes_run(self, model: Path, flow: Flow) -> tuple[str, ...]:
        """Those that changed the module, as an instrument sees it."""
        options = resolve_options(self.options, flow)
        optimize, dlight = options["optimization"] == "full", _by_dlight(options, flow)
        proto, target = load_checked(model), target_of(options, flow)
        return changed_passes(
            lambda seen: compiled(
                proto, target, optimize=optimize, dlight=dlight, disabled=_disabled(options), instruments=seen
            )
        )

    def after_passes(self, model: Path, flow: Flow, folder: Path) -> Path:  # noqa: ARG002
        """A module of TVM is no ONNX file any more."""
        raise Unsupported("TVM writes no ONNX model of what its passes leave.", cause="other")

    def without_passes(self, flow: Flow, names: Sequence[str]) -> Flow:
        """By `disabled_passes`."""
        said = str(flow.options.get("disabled_passes", "")).split(";")
        left_out = ";".join(dict.fromkeys([*filter(None, said), *names]))
        return msgspec.structs.replace(flow, options={**flow.options, "disabled_passes": left_out})

    def load(self, folder: Path, flow: Flow) -> TVMEngine:
        """The shared library. Raises NotRunnable where its device is not here, or its code is for another processor."""
        import tvm

        options = resolve_options(self.options, flow)
        threads = positive(options, "threads", flow)
        declared = msgspec.json.decode((folder / _DECLARED).read_bytes(), type=Declared)
        check_artifact(folder / _ARTIFACT, declared.digest)
        _require_device(str(declared.target["kind"]))
        check_processor("tvm", features_of(declared.target))
        # The loader knows a library by its path: another one at the same path, as of the next job, would be this one.
        with tempfile.TemporaryDirectory(prefix="assay-tvm-") as own:
            copy = shutil.copy(folder / _ARTIFACT, Path(own) / _ARTIFACT)
            try:
                library = tvm.runtime.load_module(str(copy))
            except (RuntimeError, ValueError, OSError) as error:
                raise broken(_ARTIFACT, error) from error
        return TVMEngine(library, declared, options, threads)


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
            self._executable.export_library(str(folder / _ARTIFACT))
        except (RuntimeError, OSError) as error:
            raise tvm_failure(error, while_="linking the library (it needs a C++ compiler on PATH)") from error
        declared = msgspec.structs.replace(self._declared, digest=file_digest(folder / _ARTIFACT))
        (folder / _DECLARED).write_bytes(msgspec.json.encode(declared))

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
            _require_device(self._kind)
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
                types = [str(one.dtype) for one in arguments if hasattr(one, "dtype")]
                rows.append((name, self._kind, types[-1] if types else ""))
            return 0

        machine = self._ready()
        machine.set_instrument(note)
        try:
            self._call(machine, self._last)
        finally:
            # There is no way back to a machine without an instrument (0.27): the next run makes a new one.
            self._machine = None
        return tuple(msgspec.structs.replace(one, role=_role(one.operator)) for one in count(rows))


def _by_dlight(options: dict[str, Option], flow: Flow) -> bool:
    """Raises UsageError where the rules for a CPU cannot schedule anything."""
    chosen = options["schedule"] == "dlight"
    if chosen and (options["target"] != "llvm" or options["optimization"] != "full"):
        raise UsageError(
            f'Flow "{flow.name}": option "schedule" can be dlight only with target llvm and optimization full.'
        )
    return chosen


def _disabled(options: dict[str, Option]) -> list[str]:
    return [one for one in str(options["disabled_passes"]).split(";") if one]


@contextmanager
def _translated() -> Iterator[None]:
    """What TVM raises while it runs, as what it says."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError) as error:
        raise tvm_failure(error, while_="running") from error


def _role(kernel: str) -> str:
    if kernel.startswith("fused_"):
        return "fused"
    for role, kinds in (("cast", ("cast", "quantize", "dequantize")), ("reformat", ("layout_transform", "transpose"))):
        if kernel.rstrip("0123456789") in kinds:
            return role
    return "compute"


def _require_device(kind: str) -> None:
    import tvm

    if kind == "llvm" or tvm.device(kind).exist:
        return
    if tvm.get_global_func(f"ffi.Module.load_from_bytes.{kind}", allow_missing=True) is None:
        raise NotRunnable(f"tvm {tvm.__version__} as installed has no runtime for {kind} (a build with it is needed).")
    raise NotRunnable(f"no {kind} device on this machine.")


def _array(name: str, value: Any) -> Tensor:
    """A copy. The result of the operator Shape is a shape and no tensor, of int64 like ONNX's."""
    import tvm

    if isinstance(value, tvm.runtime.Tensor):
        return np.array(value.numpy())
    if isinstance(value, tvm.runtime.ShapeTuple):
        return np.array(list(value), np.int64)
    raise Unsupported(f'Output "{name}" came back as {type(value).__name__}, and only tensors can be compared.')
