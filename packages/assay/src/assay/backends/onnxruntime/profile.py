"""What ran, where and in which type: read from ONNX Runtime's profile, which alone tells."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections import defaultdict
from collections.abc import Container
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from assay.backends.onnxruntime.tensors import EXTENSION, PLAIN
from assay.backends.placements import count
from assay.core.engine_info import Placement
from assay.core.measurement import OperatorTime

_numbers = itertools.count()
# Profiles name element types as protobuf does, without "tensor()".
_NAMES = {key.removeprefix("tensor(").rstrip(")"): name for key, name in {**PLAIN, **EXTENSION}.items()}
_SUFFIX = "_kernel_time"
_CASTS = ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
_REFORMATS = ("ReorderInput", "ReorderOutput", "MemcpyFromHost", "MemcpyToHost")
_BYTE = ("int8", "uint8", "int4", "uint4")
_MULTIPLIES_BYTES = ("Integer", "QLinear", "DynamicQuantize", "MatMulNBits", "QGemm", "QAttention", "QMoE")
"""In the names of operators that multiply bytes although their output is wider (ConvInteger gives int32)."""


def profile(options: Any) -> None:
    """A session of these options writes its profile into a file of its own, until `end_profile`."""
    options.enable_profiling = True
    options.profile_file_prefix = f"{tempfile.gettempdir()}/assay-profile-{os.getpid()}-{next(_numbers)}"


def end_profile(session: Any) -> bytes:
    """What the profile says; from here on the session runs without."""
    path = Path(session.end_profiling())
    try:
        return path.read_bytes()
    finally:
        path.unlink(missing_ok=True)


def placements_of(profile: bytes, swallowed: Container[str] = ()) -> tuple[Placement, ...]:
    """The kernels of the profile, each node once however often it ran, with its provider, type and role. `swallowed` are
    nodes that took an activation or a sum into themselves (`ignoring_errors`)."""
    events = [event for event in _events(profile) if _is_kernel(event)]
    nodes = {(event["name"].removesuffix(_SUFFIX), event["args"].get("node_index")): event["args"] for event in events}
    return count(_row(args, name in swallowed) for (name, _), args in nodes.items())


def times_of(profile: bytes) -> tuple[OperatorTime, ...]:
    """Median seconds of each node over the calls of the profile, its first call apart where there are more."""
    taken: dict[tuple[str, Any], list[dict[str, Any]]] = defaultdict(list)
    for event in _events(profile):
        if _is_kernel(event):
            taken[event["name"].removesuffix(_SUFFIX), event["args"].get("node_index")].append(event)
    times = []
    for (name, _), events in taken.items():
        operator = str(events[0]["args"]["op_name"])
        seconds = 1e-6 * median(float(event["dur"]) for event in events[1:] or events)
        times.append(OperatorTime(name, operator, seconds, _precision(operator, events[0]["args"])))
    return tuple(times)


def ignoring_errors(optimized: Path) -> frozenset[str]:
    """Nodes of the optimized graph that stand for a convolution and what came after it. In the layout NCHWc they are called
    Conv as before, and only an attribute or a fourth input tells."""
    data = optimized.read_bytes()
    if b"Conv" not in data:
        return frozenset()
    import onnx

    nodes = onnx.ModelProto.FromString(data).graph.node
    return frozenset(
        node.name
        for node in nodes
        if node.op_type in ("Conv", "FusedConv")
        and (len(node.input) > 3 or any(attribute.name == "activation" and attribute.s for attribute in node.attribute))
    )


def _events(profile: bytes) -> list[dict[str, Any]]:
    return msgspec.json.decode(profile, type=list[dict[str, Any]])


def _is_kernel(event: dict[str, Any]) -> bool:
    return event.get("cat") == "Node" and str(event.get("name", "")).endswith(_SUFFIX)


def _row(args: dict[str, Any], swallowed: bool) -> tuple[str, str, str, str]:
    operator = str(args["op_name"])
    role = "fused" if swallowed else _role(operator)
    return operator, str(args["provider"]), _precision(operator, args), role


def _precision(operator: str, args: dict[str, Any]) -> str:
    """Of the first output; of the bytes that go in where those are multiplied."""
    read, made = (_kinds(args.get(f"{side}_type_shape", [])) for side in ("input", "output"))
    if _multiplies_bytes(operator):
        return next((kind for kind in read if kind in _BYTE), made[0] if made else "")
    return made[0] if made else ""


@cache
def _multiplies_bytes(operator: str) -> bool:
    return any(part in operator for part in _MULTIPLIES_BYTES)


def _kinds(shapes: list[dict[str, Any]]) -> list[str]:
    return [_NAMES.get(kind, kind) for shape in shapes for kind in shape]


@cache
def _role(operator: str) -> str:
    """Fused is what the standard does not know, its variants of layout apart, and the quantized operators: those stand for
    an operator between a DequantizeLinear and a QuantizeLinear."""
    import onnx

    if operator in _CASTS:
        return "cast"
    if operator in _REFORMATS:
        return "reformat"
    plain = operator.removeprefix("Nhwc")
    return "compute" if onnx.defs.has(plain) and not plain.startswith("QLinear") else "fused"
