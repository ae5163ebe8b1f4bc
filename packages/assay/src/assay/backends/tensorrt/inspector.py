"""What an engine is made of, from the JSON of the engine inspector and of `trtexec --exportLayerInfo`.

Two schemas: until 10.x a flat list "Bindings" and one field "Format/Datatype" per tensor; in 11.x objects under
"I/O Tensors" and the format apart from the type. An engine built without detailed verbosity has layers that are names only.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from assay.core.engine_info import Placement
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import UsageError

_TYPES = (
    ("float8_e4m3fn", r"FP8|E4M3"),
    ("float4_e2m1fn", r"FP4|E2M1"),
    ("bfloat16", r"BF16|BFloat16"),
    ("float16", r"FP16|Half"),
    ("float32", r"FP32|Float"),
    ("int4", r"Int4"),
    ("uint8", r"UInt8"),
    ("int8", r"Int8"),
    ("int64", r"Int64"),
    ("int32", r"Int32"),
    ("bool", r"Bool"),
)
_PATTERNS = tuple((name, re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![0-9])", re.IGNORECASE)) for name, words in _TYPES)
_ORIGIN = re.compile(r"\[ONNX Layer: ([^\]]*)\]")
_CASTS = ("CAST", "QDQ", "QUANTIZE", "DEQUANTIZE")


class IOTensor(msgspec.Struct, frozen=True):
    """One input or output of the engine. `dtype` and `shape` are empty in the older schema, which lists names."""

    name: str
    mode: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()


class Layer(msgspec.Struct, frozen=True):
    """One layer. `operator` is what it computes, `kind` how; `origins` are the ONNX nodes that went into it."""

    name: str
    kind: str = ""
    operator: str = ""
    precision: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    tactic: str = ""
    origins: tuple[str, ...] = ()
    role: str = ""


class Inspected(msgspec.Struct, frozen=True):
    """One engine."""

    layers: tuple[Layer, ...]
    io: tuple[IOTensor, ...] = ()

    def placements(self) -> tuple[Placement, ...]:
        """Layers counted by operator, place, type and role."""
        rows = Counter(
            (layer.operator or layer.name, _device(layer.kind), layer.precision, layer.role) for layer in self.layers
        )
        return tuple(Placement(*row[:3], count=times, role=row[3]) for row, times in sorted(rows.items()))

    def sparse_kernels(self) -> int | None:
        """Layers whose tactic skips zeros: its name says so (`sm80_xmma_sparse_gemm_...`). None where no layer has a tactic."""
        named = [layer.tactic for layer in self.layers if layer.tactic]
        return sum("sparse" in tactic.casefold() for tactic in named) if named else None


def parse_layers(text: str, source: str = "engine inspector") -> Inspected:
    """Raises UsageError with the place and what is wrong for text that is neither schema."""
    try:
        document: Any = json.loads(text)
    except ValueError as error:
        raise UsageError(
            noted(BackendCode.EXPORT_NO_JSON, source=source, option="--exportLayerInfo", error=str(error))
        ) from None
    layers = document if isinstance(document, list) else document.get("Layers") if isinstance(document, dict) else None
    if not isinstance(layers, list):
        raise UsageError(noted(BackendCode.EXPORT_DAMAGED, source=source, option="--exportLayerInfo", lacking="Layers"))
    return Inspected(
        tuple(_layer(layer, source) for layer in layers), _io(document if isinstance(document, dict) else {})
    )


def _io(layer: Mapping[str, Any]) -> tuple[IOTensor, ...]:
    newer = layer.get("I/O Tensors")
    if isinstance(newer, list):
        return tuple(
            IOTensor(
                str(tensor["Name"]),
                str(tensor.get("IOMode", "")),
                type_of(str(tensor.get("DataType", ""))),
                tuple(tensor.get("Dimensions", ())),
            )
            for tensor in newer
        )
    return tuple(IOTensor(str(name)) for name in layer.get("Bindings", ()))


def _layer(layer: object, source: str) -> Layer:
    if isinstance(layer, str):
        return Layer(layer, role="fused" if _fused(layer, ()) else "")
    if not isinstance(layer, dict) or "Name" not in layer:
        raise UsageError(noted(BackendCode.EXPORT_DAMAGED, source=source, option="--exportLayerInfo", lacking="Name"))
    name, kind = str(layer["Name"]), str(layer.get("LayerType", ""))
    inputs = tuple(_tensor_type(tensor) for tensor in layer.get("Inputs", ()))
    outputs = tuple(_tensor_type(tensor) for tensor in layer.get("Outputs", ()))
    weights = layer.get("Weights")
    stored = type_of(str(weights.get("Type", ""))) if isinstance(weights, dict) else ""
    origins = tuple(_ORIGIN.findall(str(layer.get("Metadata", ""))))
    return Layer(
        name=name,
        kind=kind,
        operator=str(layer.get("ParameterType") or kind),
        precision=_coarse(inputs, outputs, stored),
        inputs=inputs,
        outputs=outputs,
        tactic=str(layer.get("TacticName", "")),
        origins=origins,
        role=_role(name, kind, layer, inputs, outputs, origins),
    )


def _coarse(inputs: tuple[str, ...], outputs: tuple[str, ...], stored: str) -> str:
    """The type of the operands: an int8 convolution that writes float16 is int8."""
    return next((dtype for dtype in (stored, *inputs, *outputs) if dtype), "")


def _role(
    name: str,
    kind: str,
    layer: Mapping[str, Any],
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    origins: tuple[str, ...],
) -> str:
    if kind.casefold() in ("reformat", "noop"):
        changes = bool(inputs and outputs) and inputs[0] != outputs[0]
        return "cast" if changes or str(layer.get("Origin", "")).upper() in _CASTS else "reformat"
    if kind.casefold() in ("cast", "quantize", "dequantize"):
        return "cast"
    if kind.casefold() in ("constant", ""):
        return ""
    return "fused" if _fused(name, origins) else "compute"


def _fused(name: str, origins: tuple[str, ...]) -> bool:
    return len(origins) > 1 or " + " in name or "ForeignNode[" in name


def _tensor_type(tensor: object) -> str:
    if not isinstance(tensor, dict):
        return ""
    older = tensor.get("Format/Datatype")
    return type_of(str(older if older is not None else tensor.get("DataType", tensor.get("Datatype", ""))))


def type_of(words: str) -> str:
    """The name of the type in TensorRT's words ("Channel major FP16 format where channel % 8 == 0"), "" where there is none."""
    return next((name for name, pattern in _PATTERNS if pattern.search(words)), "")


def _device(kind: str) -> str:
    return "DLA" if "dla" in kind.casefold() else "GPU"
