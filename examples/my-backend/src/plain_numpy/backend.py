"""The backend: from an ONNX file to a program, and the engine that runs the program."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.backends.check_inputs import check_inputs
from assay.backends.flow_options import resolve_options
from assay.backends.onnx_loader import Signature, load_checked, signature_of
from assay.core.engine_info import EngineInfo, Placement
from assay.core.flow import Flow
from assay.errors import InvalidModel, Unsupported
from assay.ports import Availability, OptionSpec, Tensor, Tensors

DISTRIBUTION = "assay-plain-numpy"
_PROGRAM = "program.json"
_WEIGHTS = "weights.npz"
_FLOATS = ("float32",)


class Call(msgspec.Struct, frozen=True):
    """One call of a function in `operators`."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: dict[str, Any]


class Program(msgspec.Struct, frozen=True):
    """What is deployed, its weights apart."""

    signature: Signature
    calls: tuple[Call, ...]


class PlainNumpy:
    """The class behind the entry point. Assay makes one without arguments, in the driver and in each worker."""

    name = "plain-numpy"
    accepts = "onnx"
    dynamic = True
    """The optional ability `assay.ports.Dynamic`: one engine takes every size of a symbolic dimension."""
    options = (OptionSpec("sums", "float32", ("float32", "float64"), "the type in which sums are taken"),)
    flows = (
        Flow(name="plain-numpy", backend="plain-numpy"),
        Flow(name="plain-numpy-wide", backend="plain-numpy", options={"sums": "float64"}),
    )

    def availability(self) -> Availability:
        """Asked in the driver, so the library is not imported: its metadata tells the version."""
        try:
            return Availability(available=True, version=metadata.version(DISTRIBUTION))
        except metadata.PackageNotFoundError:
            return Availability(
                available=False, reason=f"{DISTRIBUTION} is not installed", install=f"pip install {DISTRIBUTION}"
            )

    def prepare(self) -> None:
        """The import stage, in the worker: here a compiler that takes long to import would be imported."""
        from plain_numpy import operators  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> PlainEngine:
        """Every node becomes a call. What this compiler cannot do is refused now, with the node's name."""
        options = resolve_options(self.options, flow)
        proto = load_checked(model)
        signature = signature_of(proto)
        for spec in signature.inputs:
            if spec.dtype not in _FLOATS:
                raise Unsupported(f'Input "{spec.name}" is {spec.dtype}; plain-numpy computes in float32.')
        program = Program(signature, tuple(_call(node) for node in proto.graph.node))
        return PlainEngine(program, _weights(proto), str(options["sums"]))

    def load(self, folder: Path, flow: Flow) -> PlainEngine:
        """From what `PlainEngine.save` wrote. This engine, and never the one of `lower`, is verified and measured."""
        options = resolve_options(self.options, flow)
        try:
            program = msgspec.json.decode((folder / _PROGRAM).read_bytes(), type=Program)
        except (OSError, msgspec.MsgspecError) as error:
            raise InvalidModel(f"{folder.name} holds no program of plain-numpy: {error}") from error
        with np.load(folder / _WEIGHTS, allow_pickle=False) as stored:
            weights = {name: stored[name] for name in stored.files}
        return PlainEngine(program, weights, str(options["sums"]))


class PlainEngine:
    """A program, its weights, and the type of its sums."""

    def __init__(self, program: Program, weights: dict[str, Tensor], sums: str) -> None:
        self._program, self._weights, self._sums = program, weights, sums

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """Every output, by the model's names and in its order. Raises ValueError for inputs that the model does not take."""
        from plain_numpy.operators import OPERATORS

        check_inputs(tensors, self._program.signature.inputs)
        wide = np.float64 if self._sums == "float64" else np.float32
        values: dict[str, Tensor] = {**self._weights, **tensors}
        for call in self._program.calls:
            made = OPERATORS[call.operator]([values[name] for name in call.inputs], call.attributes, wide)
            values[call.output] = made.astype(np.float32) if made.dtype.kind == "f" else made.astype(np.int64)
        return {spec.name: np.array(values[spec.name]) for spec in self._program.signature.outputs}

    def save(self, folder: Path) -> None:
        """The artifact that would be deployed: Assay weighs it and takes its digest."""
        (folder / _PROGRAM).write_bytes(msgspec.json.encode(self._program))
        np.savez(folder / _WEIGHTS, **self._weights)

    def facts(self) -> EngineInfo:
        """What the engine is, not what was asked for. Assay's goals may demand things of it."""
        counted: dict[str, int] = {}
        for call in self._program.calls:
            counted[call.operator] = counted.get(call.operator, 0) + 1
        return EngineInfo(
            backend_version=metadata.version(DISTRIBUTION),
            precision="float32",
            placements=tuple(Placement(kind, "numpy", "float32", count) for kind, count in sorted(counted.items())),
            options={"sums": self._sums},
        )


def _call(node: Any) -> Call:
    import onnx

    from plain_numpy.operators import DEFAULTS, OPERATORS

    if node.domain not in ("", "ai.onnx") or node.op_type not in OPERATORS:
        raise Unsupported(f"plain-numpy has no operator {node.op_type}.", node=node.name)
    attributes = {attribute.name: _plain(onnx.helper.get_attribute_value(attribute)) for attribute in node.attribute}
    for name, only in DEFAULTS.get(node.op_type, {}).items():
        if attributes.pop(name, only) != only:
            raise Unsupported(f"plain-numpy has {node.op_type} only with {name}={only}.", node=node.name)
    if node.op_type in ("Conv", "MaxPool") and len(attributes.get("kernel_shape", (0, 0))) != 2:
        raise Unsupported(f"plain-numpy has {node.op_type} only for images of two dimensions.", node=node.name)
    if len(node.output) != 1:
        raise Unsupported(f"plain-numpy gives one output of {node.op_type}.", node=node.name)
    return Call(node.op_type, tuple(node.input), node.output[0], attributes)


def _plain(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else list(value) if isinstance(value, (list, tuple)) else value


def _weights(proto: Any) -> dict[str, Tensor]:
    import onnx

    weights = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    for name, array in weights.items():
        if array.dtype != np.float32:
            raise Unsupported(f'Weight "{name}" is {array.dtype}; plain-numpy computes in float32.')
    return weights
