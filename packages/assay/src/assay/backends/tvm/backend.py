"""Apache TVM: ONNX through Relax, compiled for the CPU, or ahead of time for CUDA and OpenCL."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.backends.availability import installed
from assay.backends.check_artifact import check_artifact
from assay.backends.cpu_features import check_processor
from assay.backends.flow_options import positive, resolve_options
from assay.backends.onnx_loader import load_checked, refuse_types, signature_of
from assay.backends.plain_code import tvm_code
from assay.backends.tvm.compile import compiled, features_of, target_of
from assay.backends.tvm.engine import ARTIFACT, DECLARED, Declared, TVMEngine, require_device
from assay.backends.tvm.errors import broken
from assay.backends.tvm.passes import changed_passes
from assay.backends.tvm.records import records_of
from assay.backends.tvm.warnings import read_warnings
from assay.core.flow import Flow, Option
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported, UsageError
from assay.ports import Availability, OptionSpec

_FLOATS = ("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2")
_TYPES = frozenset({"bool", *_FLOATS, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))})


class TVM:
    """Conformance: `assay.testing.check_backend`.

    Targets are dictionaries: a string with options is refused since 0.27. Metal and Vulkan are not offered: in the wheel of
    0.27 the first kills the process and the second has no code generator.
    """

    name = "tvm"
    accepts = "onnx"
    dynamic = True
    forkable = True
    options = (
        OptionSpec("target", "llvm", ("llvm", "cuda", "opencl"), "what code is generated for"),
        OptionSpec("optimization", "full", ("full", "none"), "fusion and LLVM's -O3, or neither"),
        OptionSpec(
            "schedule",
            "default",
            ("default", "dlight"),
            "TVM's default, or DLight's rules for a CPU (target llvm, optimization full)",
        ),
        OptionSpec(
            "records",
            "",
            help="folder of a database of MetaSchedule: the kernels that it knows have their best record's schedule (target llvm)",
            path=True,
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
        made = compiled(
            proto,
            target,
            optimize=optimize,
            dlight=dlight,
            records=records_of(options, flow),
            disabled=_disabled(options),
        )
        return TVMEngine(made.executable, Declared(signature, target, records=made.found), options, threads)

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
        disabled, records = _disabled(options), records_of(options, flow)

        def compile_with(passes: list[Any]) -> object:
            return compiled(
                proto, target, optimize=optimize, dlight=dlight, records=records, disabled=disabled, instruments=passes
            )

        return changed_passes(compile_with)

    def after_passes(self, model: Path, flow: Flow, folder: Path) -> Path:  # noqa: ARG002
        """A module of TVM is no ONNX file any more."""
        raise Unsupported(noted(BackendCode.PASSES_NOT_SHOWN, library="TVM"), cause="other")

    def without_passes(self, flow: Flow, names: Sequence[str]) -> Flow:
        """By `disabled_passes`."""
        disabled_passes = str(flow.options.get("disabled_passes", "")).split(";")
        left_out = ";".join(dict.fromkeys([*filter(None, disabled_passes), *names]))
        return msgspec.structs.replace(flow, options={**flow.options, "disabled_passes": left_out})

    def load(self, folder: Path, flow: Flow) -> TVMEngine:
        """The shared library. Raises NotRunnable where its device is not here, or its code is for another processor."""
        import tvm

        options = resolve_options(self.options, flow)
        threads = positive(options, "threads", flow)
        declared = msgspec.json.decode((folder / DECLARED).read_bytes(), type=Declared)
        check_artifact(folder / ARTIFACT, declared.digest)
        require_device(str(declared.target["kind"]))
        check_processor("tvm", features_of(declared.target))
        # The loader knows a library by its path: another one at the same path, as of the next job, would be this one.
        with tempfile.TemporaryDirectory(prefix="assay-tvm-") as own:
            copy = shutil.copy(folder / ARTIFACT, Path(own) / ARTIFACT)
            try:
                library = tvm.runtime.load_module(str(copy))
            except (RuntimeError, ValueError, OSError) as error:
                raise broken(error) from error
        return TVMEngine(library, declared, options, threads)


def _by_dlight(options: dict[str, Option], flow: Flow) -> bool:
    """Raises UsageError where the rules for a CPU cannot schedule anything."""
    chosen = options["schedule"] == "dlight"
    if chosen and (options["target"] != "llvm" or options["optimization"] != "full"):
        needs = ("target=llvm", "optimization=full")
        raise UsageError(
            noted(BackendCode.OPTION_NEEDS, flow=flow.name, option="schedule", value="dlight", needs=needs)
        )
    return chosen


def _disabled(options: dict[str, Option]) -> list[str]:
    return [part for part in str(options["disabled_passes"]).split(";") if part]
