"""TensorRT as a backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from assay.backends.check_artifact import check_artifact
from assay.backends.cuda import cuda
from assay.backends.flow_options import resolve_options
from assay.backends.onnx_loader import load_checked, refuse_types, signature_of
from assay.backends.tensorrt.api import api_of
from assay.backends.tensorrt.engine_build import built, format_sizes
from assay.backends.tensorrt.loaded_engine import DECLARED, PLAN, Declared, TensorRTEngine
from assay.backends.tensorrt.log_lines import Listener
from assay.backends.tensorrt.precision import BF16, FP8, FP16, FP32, INT8, NAMES, TF32
from assay.backends.tensorrt.settings import Settings
from assay.backends.tensorrt.warnings import read_warnings
from assay.core.flow import Flow, Option, sizes_to_build
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unavailable, UsageError
from assay.ports import Availability, OptionSpec

_PROMISED = {FP32: "float32", TF32: "tf32", FP16: "float16", BF16: "bfloat16", INT8: "int8", FP8: "float8_e4m3fn"}
TYPES = frozenset(("bool", "float16", "float32", "bfloat16", "float8_e4m3fn", "int8", "int32", "int64", "uint8"))
OPTIONS = (
    OptionSpec("precision", FP32, NAMES, "what the builder may use, or what the model must carry"),
    OptionSpec("strongly_typed", False, help="take types from the model (10; always so in 11)"),
    OptionSpec("workspace_mib", 0, help="limit of the workspace pool; 0 is the version's own"),
    OptionSpec("optimization_level", 3, (0, 1, 2, 3, 4, 5), "how long the builder searches for tactics"),
    OptionSpec("version_compatible", False, help="a plan that later versions can read"),
    OptionSpec("timing_cache", "", help="file with the times of tactics: read where it is, written after"),
    OptionSpec("sparse_weights", False, help="kernels that skip zeros, for weights with the 2:4 pattern"),
)


def flows(backend: str) -> tuple[Flow, ...]:
    """One for each precision."""
    return tuple(
        Flow(
            name=f"{backend}-{precision}",
            backend=backend,
            options={"precision": precision},
            transforms=("int8-qdq:per-channel-symmetric",) if precision == INT8 else (),
            device="cuda",
            precision=_PROMISED[precision],
        )
        for precision in NAMES
    )


class TensorRT:
    """Conformance: `assay.testing.check_backend`, on a machine with a GPU.

    A precision that the installed version cannot express, or that the model does not carry where the version takes types
    from the model, is Unsupported: it is never left out silently.
    """

    name = "tensorrt"
    accepts = "onnx"
    dynamic = True
    needs_sizes = True
    options = OPTIONS
    flows = flows("tensorrt")

    def availability(self) -> Availability:
        """tensorrt is imported in a process of its own only: without a device it may die there."""
        from assay.backends.tensorrt.availability import availability

        return availability()

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of its logger."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Import tensorrt, after a process that did so came back. Raises Unavailable with the reason."""
        availability = self.availability()
        if not availability.available:
            raise Unavailable(noted(BackendCode.NOT_AVAILABLE, error=availability.reason, install=availability.install))
        import tensorrt  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> TensorRTEngine:
        """Parse and build on this machine's GPU: there is no other way (11.1)."""
        settings = settings_of(resolve_options(self.options, flow), flow)
        proto = load_checked(model)
        signature = signature_of(proto)
        dims = sizes_to_build(flow, signature.inputs)
        refuse_types(signature, TYPES, "tensorrt")
        trt = _library()
        api, listener = api_of(trt), Listener(trt)
        plan = built(trt, api, model, proto, signature, settings, dims, listener)
        return TensorRTEngine(trt, api, plan, Declared(signature, settings, sizes=format_sizes(dims)), listener, cuda())

    def load(self, folder: Path, flow: Flow) -> TensorRTEngine:
        """The plan. Raises InvalidModel for one of another version or another GPU."""
        settings_of(resolve_options(self.options, flow), flow)
        declared = msgspec.json.decode((folder / DECLARED).read_bytes(), type=Declared)
        check_artifact(folder / PLAN, declared.digest)
        trt = _library()
        listener = Listener(trt)
        return TensorRTEngine(trt, api_of(trt), (folder / PLAN).read_bytes(), declared, listener, cuda())


def settings_of(options: dict[str, Option], flow: Flow) -> Settings:
    """Raises UsageError for what contradicts itself."""
    settings = msgspec.convert(options, Settings)
    if settings.workspace_mib < 0:
        raise UsageError(
            noted(
                BackendCode.OPTION_AT_LEAST,
                flow=flow.name,
                option="workspace_mib",
                least=0,
                value=repr(settings.workspace_mib),
            )
        )
    return settings


def _library() -> Any:
    import tensorrt

    return tensorrt
