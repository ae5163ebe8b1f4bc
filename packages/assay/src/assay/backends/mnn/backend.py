"""MNN on the CPU: ONNX through its own converter, run by a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.artifact import read_artifact, read_record
from assay.backends.availability import installed
from assay.backends.check_inputs import check_inputs
from assay.backends.flow_options import positive, resolve_options
from assay.backends.mnn.convert import WEIGHTS, kind_of, stored_weights, to_mnn
from assay.backends.mnn.errors import SHAPES, artifact_failure, run_failure
from assay.backends.mnn.run import ModuleRunner, Runner, SessionRunner
from assay.backends.onnx_loader import Signature, load_checked, refuse_types, signature_of
from assay.backends.placements import coarsest, count
from assay.backends.plain_code_converted import mnn_code
from assay.backends.trace_events import write_timeline
from assay.backends.winograd_default import numeric_defaults
from assay.core.dtype import numpy_dtype
from assay.core.engine_info import EngineInfo, Placement
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported, UsageError, WrongInput
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_ARTIFACT = "model.mnn"
_DECLARED = "declared.json"
_TRACED_CALLS = 5
_FED = {"float32": "float32", "int32": "int32", "uint8": "uint8", "int64": "int32", "bool": "int32"}
"""What goes in for each declared type: MNN 3.6 has no 64-bit integers and no bool."""


class MNN:
    """Conformance: `assay.testing.check_backend`.

    With `api="module"` GlobalAveragePool after a convolution gives wrong numbers (3.6.1): the session is the default.
    """

    name = "mnn"
    accepts = "onnx"
    dynamic = True
    forkable = True
    options = (
        OptionSpec("weights", "float32", tuple(WEIGHTS), "the type in which weights are stored"),
        OptionSpec("arithmetic", "high", ("high", "normal", "low"), "MNN's precision mode: what it may compute in"),
        OptionSpec(
            "winograd",
            True,
            help="whether convolutions may be done by Winograd's algorithm; false: session only",
            allowance="winograd-8x8",
        ),
        OptionSpec("api", "session", ("session", "module"), "which of MNN's two interfaces runs it"),
        OptionSpec("threads", 1, help="threads of one inference"),
    )
    flows = (
        Flow(name="mnn-f32", backend="mnn", allowances=("winograd-8x8", "ties-away-from-zero")),
        Flow(
            name="mnn-fp16",
            backend="mnn",
            options={"weights": "float16", "arithmetic": "low"},
            precision="float16",
        ),
        Flow(
            name="mnn-int8-weights",
            backend="mnn",
            options={"weights": "int8"},
            precision="int8",
            allowances=("int8-weights", "winograd-8x8"),
        ),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("MNN", "MNN", "mnn")

    plain_packages = ("MNN",)

    def plain_code(self, flow: Flow) -> str:
        """Converted and run by a session; "" for the other interface."""
        options = resolve_options(self.options, flow)
        if options["api"] != "session":
            return ""
        arguments, threads = WEIGHTS[str(options["weights"])], positive(options, "threads", flow)
        return mnn_code(arguments, str(options["arithmetic"]), threads, winograd=bool(options["winograd"]))

    def prepare(self) -> None:
        """Import MNN."""
        import MNN  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> MNNEngine:
        """Convert it in a child process: the converter dies on a graph that reads what nothing makes."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        _check_interface(options, flow)
        signature = signature_of(load_checked(model))
        refuse_types(signature, frozenset(_FED), "MNN")
        return MNNEngine(to_mnn(model, str(options["weights"])), signature, options)

    def load(self, folder: Path, flow: Flow) -> MNNEngine:
        """The converted model; threads and arithmetic are the flow's."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        _check_interface(options, flow)
        signature = read_record(folder / _DECLARED, Signature)
        return MNNEngine(read_artifact(folder / _ARTIFACT), signature, options)


class MNNEngine:
    """One model and its runner, made again for each new set of input shapes by MNN itself."""

    def __init__(self, artifact: bytes, signature: Signature, options: dict[str, Option]) -> None:
        self._artifact, self._signature, self._options = artifact, signature, options
        self._cast: dict[str, str] = {}
        try:
            make = SessionRunner if options["api"] == "session" else ModuleRunner
            self._runner: Runner = make(artifact, signature, options)
        except Unsupported:
            raise
        except Exception as error:  # MNN raises a bare Exception
            raise artifact_failure(error) from error

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """64-bit integers and bools go in and come out as the int32 that MNN has. Raises ValueError for an input of
        another dtype or shape, or an integer beyond int32; Unsupported where MNN finds no shape
        of a tensor."""
        check_inputs(tensors, self._signature.inputs)
        code, raw = self._runner.run({spec.name: self._fed(spec.name, tensors[spec.name]) for spec in self._read()})
        if code:
            unsized = self._runner.unsized() if code == SHAPES else ""
            raise run_failure(code, unsized, kind_of(self._artifact, unsized) if unsized else "")
        return {spec.name: self._answer(spec.name, raw[spec.name], spec.dtype) for spec in self._signature.outputs}

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """The operators of a few calls, by the host's clock in MNN's own callbacks."""
        self.run(tensors)
        write_timeline(folder / "mnn.json", [self._runner.timed() for _ in range(_TRACED_CALLS)])

    def save(self, folder: Path) -> None:
        """The .mnn file, and what the ONNX file declared: MNN forgets the types."""
        (folder / _ARTIFACT).write_bytes(self._artifact)
        (folder / _DECLARED).write_bytes(msgspec.json.encode(self._signature))

    def facts(self) -> EngineInfo:
        """Placements are the kernels of the session's last run; precision is the coarsest of their type and those in which
        the artifact stores weights. Of a model too large to be asked for these nothing is told."""
        import MNN

        read = stored_weights(self._artifact)
        stored = read or {}
        computed = "float32" if read is not None else ""
        kernels = tuple(
            _role(placement) for placement in count((kind, "CPU", computed) for kind in self._runner.kernels())
        )
        precision = "int8" if "int8" in stored else coarsest(count(("", "", kind) for kind in (*stored, computed)))
        options = {name: str(value) for name, value in self._options.items()}
        options |= {f"cast.{name}": text for name, text in self._cast.items()}
        return EngineInfo(
            backend_version=MNN.version(),
            precision=precision,
            placements=kernels,
            options=options,
            weights=stored,
            numeric_defaults=numeric_defaults(self._options, (kernel.operator for kernel in kernels)),
        )

    def _read(self) -> list[Any]:
        """An input that no node reads is dropped by the converter; ONNX runtimes take it and ignore it."""
        return [spec for spec in self._signature.inputs if spec.name in self._runner.inputs]

    def _fed(self, name: str, array: Tensor) -> Tensor:
        dtype = np.dtype(_FED[array.dtype.name])
        if array.dtype == dtype:
            return np.asarray(array, order="C")  # ascontiguousarray gives a scalar an axis
        self._cast[name] = f"{array.dtype} -> {dtype} on the way in"
        ends = np.iinfo(np.int32)
        if array.dtype == np.int64 and array.size and not ends.min <= array.min() <= array.max() <= ends.max:
            raise WrongInput(noted(BackendCode.INPUT_TOO_LARGE, input=name, dtype="int32", library="MNN"))
        return array.astype(dtype, order="C")

    def _answer(self, name: str, array: Tensor, declared: str) -> Tensor:
        """As MNN gave it, but for the types that it does not have."""
        if array.dtype.name == declared or declared not in ("int64", "bool") or array.dtype.kind not in "iu":
            return array
        self._cast[name] = f"{array.dtype} -> {declared} on the way out"
        return array.astype(numpy_dtype(declared))


def _check_interface(options: dict[str, Option], flow: Flow) -> None:
    if options["api"] == "module" and not options["winograd"]:
        raise UsageError(
            noted(BackendCode.OPTION_NEEDS, flow=flow.name, option="winograd", value="false", needs=("api=session",))
        )


def _role(kernel: Placement) -> Placement:
    """A Raster moves data and computes nothing."""
    return msgspec.structs.replace(kernel, role="reformat" if kernel.operator == "Raster" else "compute")
