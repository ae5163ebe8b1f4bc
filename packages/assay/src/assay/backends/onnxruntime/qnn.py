"""QNN through ONNX Runtime's plug-in: Qualcomm's HTP, or its emulator on x86. Falling back to the CPU is forbidden."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from assay.backends.availability import installed
from assay.backends.flow_options import positive, resolve_options
from assay.backends.onnx_loader import Signature, load_checked, signature_of
from assay.backends.onnxruntime.qnn_session import QnnEngine, Settings, compiled, opened, register
from assay.backends.onnxruntime.warnings import read_warnings
from assay.core.flow import Flow, dimension_key, sizes_to_build
from assay.core.model import TensorSpec
from assay.core.native_warning import NativeWarning
from assay.ports import Availability, OptionSpec

_LARGEST_FILE = 2**31 - 1
"""Bytes of one message of protobuf."""


class OnnxRuntimeQnn:
    """Conformance: `assay.testing.check_backend`.

    QNN compiles shapes in: symbolic dimensions take the size that samples have (1 where nobody knows it). Left alone,
    onnxruntime 1.31 runs on the CPU whatever QNN does not take, all of it if need be, and lists QNN as a provider still.
    """

    name = "onnxruntime-qnn"
    library = "onnxruntime"
    accepts = "onnx"
    dynamic = False
    needs_sizes = True
    requires = ("onnxruntime-qnn==2.7.0", "onnxruntime==1.31.1")
    """Of an environment of its own: the plug-in and the ONNX Runtime that it was tested with."""
    options = (
        OptionSpec("backend_type", "htp", ("htp", "cpu", "gpu"), "the library of QNN that computes"),
        OptionSpec("cpu_fallback", False, help="whether the CPU may do what QNN does not take; it is then recorded"),
        OptionSpec("threads", 1, help="threads inside one operator that the CPU does"),
    )
    flows = (Flow(name="qnn-htp", backend="onnxruntime-qnn", environment="qnn"),)

    def availability(self) -> Availability:
        """From the package metadata, of the plug-in and of ONNX Runtime."""
        plugin = installed("onnxruntime-qnn", "onnxruntime_qnn", "qnn")
        runtime = installed("onnxruntime", "onnxruntime", "qnn")
        return plugin if runtime.available else runtime

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of ONNX Runtime's logger."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Import onnxruntime and register the plug-in."""
        register()

    def lower(self, model: Path, flow: Flow) -> QnnEngine:
        """Compiled into a context of QNN inside an ONNX file. Raises Undelegated, with their names, where operators are
        left to the CPU; Unavailable where the library of QNN cannot be loaded."""
        settings = self._settings(flow)
        signature = signature_of(load_checked(model))
        sizes = _sizes(signature, flow)
        with tempfile.TemporaryDirectory(prefix="assay-qnn-") as folder:
            return compiled(named(model, signature, Path(folder)), _fixed(signature, sizes), settings, sizes)

    def load(self, folder: Path, flow: Flow) -> QnnEngine:
        """From the context: nothing is compiled again."""
        return opened(folder, self._settings(flow))

    def _settings(self, flow: Flow) -> Settings:
        options = resolve_options(self.options, flow)
        return Settings(
            backend_type=str(options["backend_type"]),
            cpu_fallback=bool(options["cpu_fallback"]),
            threads=positive(options, "threads", flow),
        )


def _sizes(signature: Signature, flow: Flow) -> dict[str, int]:
    """Of every symbolic dimension of an input, by `dimension_key`."""
    known = sizes_to_build(flow, signature.inputs)
    keys = [key for spec in signature.inputs for key in _keys(spec) if isinstance(key, str)]
    return {key: known[key][1] if key in known else 1 for key in keys}


def _fixed(signature: Signature, sizes: dict[str, int]) -> Signature:
    return msgspec.structs.replace(
        signature,
        inputs=tuple(
            TensorSpec(spec.name, spec.dtype, tuple(sizes[key] if isinstance(key, str) else key for key in _keys(spec)))
            for spec in signature.inputs
        ),
    )


def _keys(spec: TensorSpec) -> list[int | str]:
    return [
        dimension_key(spec.name, axis, size) if isinstance(size, str) else size for axis, size in enumerate(spec.shape)
    ]


def named(model: Path, signature: Signature, folder: Path) -> Path:
    """The file itself, or a copy in `folder` in which dimensions without a name are called `input[axis]`: ONNX Runtime fixes a size by
    the name of its dimension."""
    if not any(size == "?" for spec in signature.inputs for size in spec.shape):
        return model
    import onnx

    proto = onnx.load(model)
    specs = {spec.name: spec for spec in signature.inputs}
    for info in proto.graph.input:
        if info.name in specs:
            for key, dim in zip(_keys(specs[info.name]), info.type.tensor_type.shape.dim, strict=True):
                if isinstance(key, str):
                    dim.dim_param = key
    large = proto.ByteSize() > _LARGEST_FILE
    onnx.save(proto, folder / model.name, save_as_external_data=large)
    return folder / model.name
