"""ONNX to ncnn by pnnx: at fixed sizes, the batch apart."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.backends.converter import convert
from assay.backends.ncnn.errors import conversion_failure
from assay.backends.onnx_loader import Signature, every_node, signature_of
from assay.core.flow import Flow, Sizes, dimension_key, sizes_to_build
from assay.core.model import TensorSpec
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported

if TYPE_CHECKING:
    from onnx import ModelProto

PARAM, BIN = "model.ncnn.param", "model.ncnn.bin"
_SCRIPT = "model_ncnn.py"
_KINDS = {"float32": "f32", "int32": "i32", "int64": "i64"}
_EXACT = ("int8", "uint8", "int16", "uint16")
"""Every value of these is a float32, too."""

_NO_BATCH = 233
_INPUT = re.compile(r'ex\.input\("(in\d+)", ncnn\.Mat\(in\d+(?:\.\w+\(\))*(?:, batch_index=(\d+))?\)')
_OUTPUT = re.compile(r'ex\.extract\("(out\d+)"\)\n.*?\.numpy\((?:batch_index=(\d+))?\)')
_IGNORED = re.compile(r"^ignore (\S+) \S+ param (\S+)$", re.MULTILINE)


class Blob(msgspec.Struct, frozen=True):
    """What ncnn calls a tensor, and which of its axes is the batch (None: there is none). `fed` is the type that goes in,
    `sizes` are those that the network was made for."""

    name: str
    batch: int | None
    spec: TensorSpec
    fed: str = ""
    sizes: tuple[int, ...] = ()


class Network(msgspec.Struct, frozen=True):
    """What the artifact itself has forgotten. `unread` are inputs that no node reads; `ignored` are parameters of layers
    that pnnx says it left out."""

    inputs: tuple[Blob, ...]
    outputs: tuple[Blob, ...]
    unread: tuple[TensorSpec, ...] = ()
    ignored: tuple[str, ...] = ()


def to_ncnn(
    proto: ModelProto, weights: str, flow: Flow, *, batched: bool = True, level: int = 2
) -> tuple[Network, bytes, bytes]:
    """The network and the contents of its .param and .bin. `proto` is changed: unread inputs go, and a cast of an input
    to float32 becomes the input's type. `batched`: a symbolic first dimension is a batch, and is
    converted at 1. `level` is pnnx's own, 2 where it is not asked. Raises errors of `assay.errors.Lowering`, or MemoryError."""
    import onnx
    from pnnx import EXEC_PATH

    declared = signature_of(proto)
    unread = _drop_unread(proto)
    _cast_outside(proto)
    read = signature_of(proto)
    dims = sizes_to_build(flow, read.inputs)
    sizes = {spec.name: _sizes(spec, dims, batched=batched) for spec in read.inputs}
    shapes = ",".join(f"[{','.join(map(str, sizes[spec.name]))}]{_kind(spec)}" for spec in read.inputs)
    with tempfile.TemporaryDirectory(prefix="ncnn-") as name:
        folder = Path(name)
        try:
            onnx.save(proto, folder / "model.onnx")
        except ValueError as error:
            raise Unsupported(noted(BackendCode.BEYOND_2_GIB, library="pnnx")) from error
        half = "1" if weights == "float16" else "0"
        done = convert([EXEC_PATH, "model.onnx", f"inputshape={shapes}", f"fp16={half}", f"optlevel={level}"], folder)
        if done.code or not (folder / PARAM).is_file():
            raise conversion_failure(done)
        ignored = tuple(sorted({" ".join(match) for match in _IGNORED.findall(done.text)}))
        script = (folder / _SCRIPT).read_text()
        inputs, outputs = _batches(_INPUT, script), _batches(_OUTPUT, script)
        network = Network(
            tuple(
                Blob(f"in{i}", inputs.get(f"in{i}"), spec, _fed(spec, read), sizes[spec.name])
                for i, spec in enumerate(
                    tensor_spec for tensor_spec in declared.inputs if tensor_spec.name not in unread
                )
            ),
            tuple(Blob(f"out{i}", outputs.get(f"out{i}"), spec) for i, spec in enumerate(declared.outputs)),
            tuple(spec for spec in declared.inputs if spec.name in unread),
            ignored,
        )
        return network, (folder / PARAM).read_bytes(), (folder / BIN).read_bytes()


def _drop_unread(proto: ModelProto) -> set[str]:
    """pnnx numbers the inputs that it keeps: so it is given no others."""
    read = {name for node in every_node(proto.graph) for name in node.input}
    read |= {info.name for info in proto.graph.output}
    constants = {tensor.name for tensor in proto.graph.initializer}
    unread = {info.name for info in proto.graph.input} - read - constants
    for info in [info for info in proto.graph.input if info.name in unread]:
        proto.graph.input.remove(info)
    return unread


def _cast_outside(proto: ModelProto) -> None:
    """ncnn has no Cast: small integers that are only ever cast to float32 are fed as float32, which is the same."""
    from onnx import TensorProto, helper

    for info in proto.graph.input:
        if helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type).name not in _EXACT:
            continue
        readers = [node for node in every_node(proto.graph) if info.name in node.input]
        to = [
            attribute.i
            for node in readers
            if node.op_type == "Cast"
            for attribute in node.attribute
            if attribute.name == "to"
        ]
        if readers and to == [TensorProto.FLOAT] * len(readers):
            info.type.tensor_type.elem_type = TensorProto.FLOAT


def _sizes(spec: TensorSpec, dims: Mapping[str, Sizes], *, batched: bool) -> tuple[int, ...]:
    """One for the leading dimension where it is a batch, the usual size for any other symbol."""
    sizes = []
    for axis, size in enumerate(spec.shape):
        if isinstance(size, int):
            sizes.append(size)
        elif axis == 0 and batched:
            sizes.append(1)
        elif (key := dimension_key(spec.name, axis, size)) in dims:
            sizes.append(dims[key][1])
        else:
            raise Unsupported(
                noted(BackendCode.SIZE_NOT_NAMED, input=spec.name, dimension=key, library="pnnx"),
                cause="operator_unsupported",
            )
    return tuple(sizes)


def _kind(spec: TensorSpec) -> str:
    if spec.dtype not in _KINDS:
        raise Unsupported(noted(BackendCode.TYPE_NOT_PASSED, tensor=spec.name, dtype=spec.dtype, library="ncnn"))
    return _KINDS[spec.dtype]


def _fed(spec: TensorSpec, read: Signature) -> str:
    converted = next(tensor_spec for tensor_spec in read.inputs if tensor_spec.name == spec.name)
    return "int32" if converted.dtype == "int64" else converted.dtype


def _batches(pattern: re.Pattern[str], script: str) -> dict[str, int]:
    """Which axis pnnx took for the batch: told only by the example script that it writes. 233 is its word for none."""
    return {name: int(axis) for name, axis in pattern.findall(script) if axis and int(axis) != _NO_BATCH}
