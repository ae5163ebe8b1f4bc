"""What OpenVINO says of the graph that it executes: operators, and the types in which they ran."""

from __future__ import annotations

from typing import Any

from assay.backends.placements import count
from assay.core.engine_info import Placement

DEVICE = "CPU"
NAMES = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "bf16": "bfloat16",
    "f8e4m3": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "boolean": "bool",
    **{
        f"{short}{bits}": f"{long}{bits}"
        for short, long in (("i", "int"), ("u", "uint"))
        for bits in (4, 8, 16, 32, 64)
    },
}
"""OpenVINO's names of types, and ours."""
_CASTS = ("Convert", "FakeQuantize")
_REFORMATS = ("Reorder",)
_QUANTIZERS = ("FakeQuantize", "FakeConvert")
_BYTES = ("i8", "u8", "i4", "u4", "i2", "u2")


def numbers_in_bytes(model: Any) -> bool:
    """Whether anything in a model as it was read is quantized or a number of a byte or less. Bodies of loops and branches may
    be: they are not looked into."""
    return any(
        node.get_type_name() in _QUANTIZERS
        or hasattr(node, "get_function")
        or any(port.get_element_type().get_type_name() in _BYTES for port in node.outputs())
        for node in model.get_ops()
    )


def placements(executed: Any, *, numbers: bool) -> tuple[Placement, ...]:
    """Operators by the type of their first input. Bytes are truth values where the model has no `numbers` in bytes:
    openvino 2026.4 calls both u8, splits Trilu and other operators into comparisons and selections, and quantizes
    nothing that no quantizer asks for."""
    rows: list[tuple[str, str, str, str]] = []
    for node in executed.get_ops():
        info = node.get_rt_info()
        kind = _text(info, "layerType")
        if kind not in ("Input", "Output", "Const"):
            precision = _text(info, "runtimePrecision")
            precision = "boolean" if precision == "u8" and not numbers else precision
            rows.append((kind, DEVICE, NAMES.get(precision, precision), _role(kind, info)))
    return count(rows)


def _role(kind: str, info: Any) -> str:
    """A node names every layer of the model that it stands for."""
    if kind in _CASTS:
        return "cast"
    if kind in _REFORMATS:
        return "reformat"
    return "fused" if "," in _text(info, "originalLayersNames") else "compute"


def _text(info: Any, key: str) -> str:
    if key not in info:
        return ""
    value = info[key]
    return str(value.astype(str)) if hasattr(value, "astype") else str(value)
