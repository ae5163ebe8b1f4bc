"""LiteRT: exported programs converted by litert-torch, run by its interpreter; int8 weights by ai-edge-quantizer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.artifact import read_artifact, read_record
from assay.backends.availability import installed
from assay.backends.check_inputs import check_inputs, other_sizes
from assay.backends.flow_options import positive, resolve_options
from assay.backends.litert.convert import converted, first_number
from assay.backends.litert.warnings import read_warnings
from assay.backends.placements import count
from assay.core.engine_info import EngineInfo, Placement
from assay.core.flow import Flow, Option
from assay.core.model import TensorSpec
from assay.core.native_warning import NativeWarning
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Unsupported, WrongInput
from assay.models.program import open_program
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_ARTIFACT = "model.tflite"
_DECLARED = "declared.json"


class Declared(msgspec.Struct, frozen=True):
    """What the file itself has forgotten: names, and the sizes that were compiled in for symbols."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    sizes: dict[str, int]


class LiteRt:
    """Conformance: `assay.testing.check_backend`.

    Shapes are compiled in: litert-torch 0.10 fails to trace a dynamic batch. Symbols take the size that samples have.
    """

    name = "litert"
    accepts = "torch"
    dynamic = False
    needs_sizes = True
    requires = ("ai-edge-litert==2.3.0", "ai-edge-quantizer==0.10.0", "litert-torch==0.10.0", "torch==2.13.0")
    options = (
        OptionSpec("weights", "float32", ("float32", "int8"), "int8: per channel, activations quantized while running"),
        OptionSpec("threads", 1, help="threads of one inference"),
    )
    flows = (
        Flow(name="litert-f32", backend="litert", environment="litert"),
        Flow(
            name="litert-int8",
            backend="litert",
            environment="litert",
            options={"weights": "int8"},
            precision="int8",
            allowances=("int8-operands", "int8-tables"),
        ),
    )

    def availability(self) -> Availability:
        """From the package metadata, of the converter, the quantizer and the runtime."""
        parts = [
            installed("ai-edge-litert", "ai_edge_litert", "litert"),
            installed("litert-torch", "litert_torch", "litert"),
            installed("ai-edge-quantizer", "ai_edge_quantizer", "litert"),
        ]
        return next((part for part in parts if not part.available), parts[0])

    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        """Those of its output."""
        return read_warnings(text)

    def prepare(self) -> None:
        """Import the converter and the runtime."""
        import ai_edge_litert.interpreter  # noqa: F401
        import litert_torch  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> LiteRtEngine:
        """Converted for the size that samples have of every symbol, 1 where nobody knows it."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        program, sizes, content = converted(open_program(model), flow, str(options["weights"]))
        inputs = tuple(
            msgspec.structs.replace(spec, shape=tuple(sizes.get(str(size), size) for size in spec.shape))
            for spec in program.inputs
        )
        return LiteRtEngine(Declared(inputs, program.outputs, sizes), content, options)

    def load(self, folder: Path, flow: Flow) -> LiteRtEngine:
        """The flatbuffer; the number of threads is the flow's."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        return LiteRtEngine(read_record(folder / _DECLARED, Declared), read_artifact(folder / _ARTIFACT), options)


class LiteRtEngine:
    """One interpreter, with XNNPACK as it comes."""

    def __init__(self, declared: Declared, content: bytes, options: dict[str, Option]) -> None:
        from ai_edge_litert.interpreter import Interpreter

        self._declared, self._content, self._options = declared, content, options
        self._cast: dict[str, str] = {}
        try:
            self._interpreter: Any = Interpreter(model_content=content, num_threads=options["threads"])
            self._runner: Any = self._interpreter.get_signature_runner()
        except (ValueError, RuntimeError) as error:
            text = " ".join(str(error).split())
            raise InvalidModel(noted(BackendCode.ENGINE_NOT_LOADED, library="LiteRT", error=text)) from error
        self._feeds = sorted(self._runner.get_input_details(), key=first_number)
        self._answers = sorted(self._runner.get_output_details(), key=first_number)

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Raises Unsupported for a size that the model takes and the file was not converted for."""
        declared = self._declared
        try:
            check_inputs(tensors, declared.inputs)
        except WrongInput as error:
            if declared.sizes and all(spec.name in tensors for spec in declared.inputs):
                raise other_sizes(error, declared.sizes) from error
            raise
        feeds = {
            key: self._fed(key, tensors[spec.name], spec.name)
            for key, spec in zip(self._feeds, declared.inputs, strict=True)
        }
        answers = self._runner(**feeds)
        return {
            spec.name: self._answered(np.array(answers[key]), spec)
            for key, spec in zip(self._answers, declared.outputs, strict=True)
        }

    def _fed(self, key: str, array: Tensor, name: str) -> Tensor:
        """The converter makes int32 of int64: the numbers must be the same."""
        dtype = np.dtype(self._runner.get_input_details()[key]["dtype"])
        if array.dtype == dtype or array.dtype.kind not in "iu" or dtype.kind not in "iu":
            return array
        narrow: Tensor = array.astype(dtype)
        if not np.array_equal(narrow, array):
            raise Unsupported(noted(BackendCode.INPUT_TOO_LARGE, input=name, dtype=str(dtype), library="LiteRT"))
        return narrow

    def _answered(self, array: Tensor, spec: TensorSpec) -> Tensor:
        """Back to the declared width, which loses nothing; told in the facts."""
        if array.dtype.name == spec.dtype or array.dtype.kind not in "iu" or not spec.dtype.startswith(("int", "uint")):
            return array
        self._cast[spec.name] = f"{array.dtype} -> {spec.dtype} on the way out"
        return array.astype(spec.dtype)

    def trace(self, tensors: Tensors, folder: Path) -> None:
        """Raises Unsupported."""
        del tensors, folder
        from importlib import metadata

        raise Unsupported(
            noted(
                BackendCode.NO_PROFILER,
                library="LiteRT",
                version=metadata.version("ai-edge-litert"),
                lacking="benchmark_model",
            )
        )

    def save(self, folder: Path) -> None:
        """The flatbuffer that a device would get, and the names that it does not hold."""
        (folder / _ARTIFACT).write_bytes(self._content)
        (folder / _DECLARED).write_bytes(msgspec.json.encode(self._declared))

    def facts(self) -> EngineInfo:
        """Operators from the interpreter (a private method: there is no other); int8 where a weight is."""
        from importlib import metadata

        placements = self._placements()
        kinds = {np.dtype(detail["dtype"]).name for detail in self._interpreter.get_tensor_details()}
        return EngineInfo(
            backend_version=metadata.version("ai-edge-litert"),
            precision="int8" if "int8" in kinds else "float16" if "float16" in kinds else "float32",
            placements=placements,
            weights=self._weights(),
            options={
                **{name: str(value) for name, value in self._options.items()},
                **{f"cast.{name}": text for name, text in self._cast.items()},
                **{f"size.{name}": str(size) for name, size in self._declared.sizes.items()},
            },
        )

    def _weights(self) -> dict[str, int]:
        """Constants of two axes or more, by type: what no operator gives and nobody feeds."""
        made = {int(index) for detail in self._interpreter._get_ops_details() for index in detail["outputs"]}
        made |= {int(detail["index"]) for detail in self._interpreter.get_input_details()}
        kept = [detail for detail in self._interpreter.get_tensor_details() if int(detail["index"]) not in made]
        return dict(Counter(np.dtype(detail["dtype"]).name for detail in kept if len(detail["shape"]) > 1))

    def _placements(self) -> tuple[Placement, ...]:
        """What XNNPACK took is one operator named DELEGATE and the operators that it stands for, both listed."""
        details = {detail["index"]: np.dtype(detail["dtype"]).name for detail in self._interpreter.get_tensor_details()}
        rows = []
        for detail in self._interpreter._get_ops_details():
            if detail["op_name"] == "DELEGATE":
                continue
            made = [details.get(index, "") for index in detail["outputs"]]
            rows.append((str(detail["op_name"]), "CPU", made[0] if made else "", "compute"))
        return count(rows)
