"""Settings of a GGUF file: sizes, and those that would change what is computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

KNOWN = ("llama", "qwen2", "qwen3")
BASE = 10000.0
"""Of rotary positions, where none is said."""
_Size = Annotated[int, msgspec.Meta(ge=1, le=2**24)]
_READ = {
    "embedding_length": "width",
    "feed_forward_length": "inner",
    "block_count": "layers",
    "attention.head_count": "heads",
    "attention.layer_norm_rms_epsilon": "epsilon",
    "attention.head_count_kv": "key_heads",
    "attention.key_length": "head",
    "rope.freq_base": "base",
    "vocab_size": "vocabulary",
}
_LET_BE = ("context_length", "tensor_data_layout", "rope.scaling.original_context_length")


class GgufSettings(msgspec.Struct, frozen=True):
    """0 is what was not said."""

    width: _Size
    inner: _Size
    layers: _Size
    heads: _Size
    epsilon: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    key_heads: Annotated[int, msgspec.Meta(ge=0, le=2**24)] = 0
    head: Annotated[int, msgspec.Meta(ge=0, le=2**24)] = 0
    base: Annotated[float, msgspec.Meta(gt=0)] = BASE
    vocabulary: Annotated[int, msgspec.Meta(ge=0, le=2**24)] = 0


def read_settings(kind: str, metadata: Mapping[str, Any]) -> GgufSettings:
    """Those of one architecture, with what may be left out filled in. Raises ValueError: what it cannot be."""
    own = {name.removeprefix(f"{kind}."): value for name, value in metadata.items() if name.startswith(f"{kind}.")}
    try:
        settings = msgspec.convert({_READ[name]: value for name, value in own.items() if name in _READ}, GgufSettings)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    key_heads, head = settings.key_heads or settings.heads, settings.head or settings.width // settings.heads
    if not math.isfinite(settings.base):
        raise ValueError(f"rope.freq_base {settings.base}")
    if settings.heads % key_heads or (not settings.head and settings.width % settings.heads):
        raise ValueError(f"{settings.heads} heads for {key_heads} of keys and a width of {settings.width}")
    if head % 2:
        raise ValueError(f"a head of odd width ({head}), which cannot be turned by its position")
    return msgspec.structs.replace(settings, key_heads=key_heads, head=head)


def otherwise(kind: str, metadata: Mapping[str, Any], head: int) -> Iterator[str]:
    """Settings that no graph of these architectures follows. Without effect are those that are off, or say what holds anyway."""
    for name, value in metadata.items():
        own = name.removeprefix(f"{kind}.")
        if own == name or own in _READ or own in _LET_BE:
            continue
        held = {
            "rope.dimension_count": head,
            "attention.value_length": head,
            "rope.scaling.type": "none",
            "rope.scaling.factor": 1.0,
            "rope.scaling.attn_factor": 1.0,
            "rope.scale_linear": 1.0,
            "attention.causal": True,
        }.get(own)
        if value != held and (held is not None or value):
            yield f"{own} {value!r}"
