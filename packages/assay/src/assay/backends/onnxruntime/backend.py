"""ONNX Runtime on the CPU, at any of its optimization levels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from assay.backends.availability import installed
from assay.backends.errors import unusable_artifact
from assay.backends.flow_options import positive, resolve_options
from assay.backends.onnxruntime.engine import OnnxRuntimeEngine
from assay.backends.onnxruntime.passes import optimizers_run, plain_code
from assay.backends.onnxruntime.saving import (
    ARTIFACT,
    free_folder,
    keep_optimized,
    loading_level,
)
from assay.backends.onnxruntime.session import LEVELS, session, session_options
from assay.backends.onnxruntime.warnings import read_warnings
from assay.core.flow import Flow
from assay.core.native_warning import NativeWarning
from assay.core.outcome import Cause
from assay.errors import InvalidModel, Unsupported
from assay.ports import Availability, OptionSpec

_ANY = ("rounded-chirps",)
"""DFT and STFT of a length that is no power of two (1.31): the error of one line grows with its length, 3e-5 of its norm at 400."""
_FUSED = (*_ANY, "elementwise-ties-after-zero-point")
"""Its QLinearAdd, QLinearMul and QLinearAveragePool, which quantized operators are fused into, add the zero point before they
round (1.31); its products and convolutions do not."""


class OnnxRuntime:
    """Conformance: `assay.testing.check_backend`."""

    name = "onnxruntime"
    accepts = "onnx"
    dynamic = True
    options = (
        OptionSpec("optimization", "all", tuple(LEVELS), "graph optimization level"),
        OptionSpec("threads", 1, help="threads inside one operator"),
        OptionSpec("int8_sums", "fast", ("fast", "exact"), "on x86 without VNNI, fast saturates at 16 bits"),
        OptionSpec("prepacking", True, help="whether kernels may lay constant weights out anew when a session begins"),
        OptionSpec("disabled_optimizers", "", help="graph optimizers to leave out, with a semicolon between two"),
    )
    flows = (
        Flow(name="onnxruntime", backend="onnxruntime", allowances=_FUSED),
        *(
            Flow(
                name=f"onnxruntime-{level}",
                backend="onnxruntime",
                options={"optimization": level},
                allowances=_FUSED if level == "extended" else _ANY,
            )
            for level in ("disable", "basic", "extended")
        ),
        *(
            Flow(
                name=f"onnxruntime-{transform.replace(':', '-')}",
                backend="onnxruntime",
                transforms=(transform,),
                precision="float16" if transform == "fp16" else "int8",
                allowances=_FUSED,
            )
            for transform in ("fp16", "int8-qdq:per-tensor", "int8-qdq:per-channel", "int8-dynamic")
        ),
    )

    levels = tuple({"optimization": level} for level in LEVELS)

    def passes_run(self, model: Path, flow: Flow) -> tuple[str, ...]:
        """From the log of one session. The rules of a rule-based transformer are not logged: all that are known may have run."""
        options = resolve_options(self.options, flow)
        return optimizers_run(model, str(options["optimization"]), positive(options, "threads", flow), options)

    def after_passes(self, model: Path, flow: Flow, folder: Path) -> Path:
        """What a session writes as its optimized graph."""
        options = resolve_options(self.options, flow)
        made = session_options(str(options["optimization"]), positive(options, "threads", flow), options)
        keep_optimized(made, folder, weights_apart=False)
        session(model, made)
        return folder / ARTIFACT

    def without_passes(self, flow: Flow, names: Sequence[str]) -> Flow:
        """By `disabled_optimizers`."""
        disabled = str(flow.options.get("disabled_optimizers", ""))
        left_out = ";".join(dict.fromkeys([*filter(None, disabled.split(";")), *names]))
        return replace(flow, options={**flow.options, "disabled_optimizers": left_out})

    plain_packages = ("onnxruntime",)

    def plain_code(self, flow: Flow) -> str:
        """A session with the options of the flow."""
        return plain_code(resolve_options(self.options, flow))

    def saved_code(self, flow: Flow) -> str:
        """A session that writes its optimized model, and one of that."""
        return plain_code(resolve_options(self.options, flow), saved=True)

    def availability(self) -> Availability:
        """From the package metadata. The builds of ONNX Runtime for other devices carry other distribution names."""
        return installed("onnxruntime", "onnxruntime", "onnxruntime")

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of its logger."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Import onnxruntime."""
        import onnxruntime  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> OnnxRuntimeEngine:
        """A session on the file itself, so that external data is found beside it."""
        options = resolve_options(self.options, flow)
        return OnnxRuntimeEngine(
            model, options, positive(options, "threads", flow), str(options["optimization"]), kept=free_folder()
        )

    def load(self, folder: Path, flow: Flow) -> OnnxRuntimeEngine:
        """The optimized graph is run as saved: optimizing it again would make another engine."""

        options = resolve_options(self.options, flow)
        threads = positive(options, "threads", flow)
        try:
            level = loading_level(folder, str(options["optimization"]))
            return OnnxRuntimeEngine(folder / ARTIFACT, options, threads, level, profiled=True)
        except (InvalidModel, Unsupported) as error:
            # What this version saved it can read: a file too new for it was saved by another.
            if isinstance(error, Unsupported) and error.cause != Cause.OPSET_TOO_NEW.value:
                raise
            raise unusable_artifact("onnxruntime", error) from error
