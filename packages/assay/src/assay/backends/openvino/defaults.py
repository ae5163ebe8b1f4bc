"""What OpenVINO's CPU plug-in does unasked that changes numbers: asked of the compiled model itself, and the options against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.engine_info import NumericDefault
from assay.core.flow import Option
from assay.ports import OptionSpec

GROUP_SIZE = "DYNAMIC_QUANTIZATION_GROUP_SIZE"
CACHE = "KV_CACHE_PRECISION"
_AS_CHOSEN, NONE = -1, 0
_CACHES = {"": "", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "uint8": "u8"}
_COARSE = ("bf16", "f16")
_ATTENTION = frozenset({"ScaledDotProductAttention", "ScaledAttn", "PagedAttention", "PagedAttentionExtension"})
_COMPRESSED = frozenset({"i8", "u8", "i4", "u4", "i2", "u2", "nf4"})

DEFAULTS_OFF = (
    OptionSpec(
        GROUP_SIZE, _AS_CHOSEN, help="activations quantized by so many while it runs; 0: none, -1: as openvino chooses"
    ),
    OptionSpec(CACHE, "", tuple(_CACHES), "the type of what attention remembers; empty: as openvino chooses"),
)
"""Named as openvino names its own properties."""


def turned_off(options: Mapping[str, Option]) -> dict[str, str | int]:
    """The properties that these options of a flow set."""
    config: dict[str, str | int] = {}
    if options[GROUP_SIZE] != _AS_CHOSEN:
        config[GROUP_SIZE] = int(options[GROUP_SIZE])
    if options[CACHE]:
        config[CACHE] = _CACHES[str(options[CACHE])]
    return config


def numeric_defaults(compiled: Any, options: Mapping[str, Option]) -> tuple[NumericDefault, ...]:
    """Those that apply to a compiled model, and that the flow did not ask for."""
    kinds = _kinds(compiled.get_runtime_model())
    defaults = []
    size = int(_property(compiled, GROUP_SIZE) or 0)
    # Only products with weights of eight bits or fewer are quantized so (2026.4).
    if (
        options[GROUP_SIZE] == _AS_CHOSEN
        and size > 0
        and any(kind in _COMPRESSED for kind in kinds.get("FullyConnected", ()))
    ):
        defaults.append(NumericDefault(GROUP_SIZE, str(size), "dynamic-quantization", GROUP_SIZE, 0))
    hint = _type(_property(compiled, "INFERENCE_PRECISION_HINT"))
    if options["precision"] == "default" and hint in _COARSE:
        defaults.append(NumericDefault("INFERENCE_PRECISION_HINT", hint, "coarse-products", "precision", "float32"))
    cache = _type(_property(compiled, CACHE))
    if not options[CACHE] and cache not in ("", "f32", "dynamic") and not _ATTENTION.isdisjoint(kinds):
        defaults.append(NumericDefault(CACHE, cache, "cache-precision", CACHE, "float32"))
    if _property(compiled, "CPU_DENORMALS_OPTIMIZATION") is True:
        defaults.append(NumericDefault("CPU_DENORMALS_OPTIMIZATION", "true", "denormals"))
    return tuple(defaults)


def _kinds(executed: Any) -> dict[str, set[str]]:
    """Operators of the executed graph, and the types that they run in."""
    types_by_kind: dict[str, set[str]] = {}
    for node in executed.get_ops():
        info = node.get_rt_info()
        kind, precision = (
            str(info[key].astype(str)) if key in info else "" for key in ("layerType", "runtimePrecision")
        )
        types_by_kind.setdefault(kind, set()).add(precision)
    return types_by_kind


def _property(compiled: Any, name: str) -> Any:
    """None for one that this release does not have."""
    try:
        return compiled.get_property(name)
    except RuntimeError:
        return None


def _type(value: Any) -> str:
    return str(value.get_type_name()) if hasattr(value, "get_type_name") else str(value or "")
