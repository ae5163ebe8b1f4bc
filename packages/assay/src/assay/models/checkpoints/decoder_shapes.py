"""Which weights a decoder has, and of which shape: one that its graph would not use is a part that is built otherwise."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from assay.models.checkpoints.decoder_weights import EMBEDDING, HEAD, LAST_NORM, LAYER, Decoder

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]
ATTENTION, GATED = ("query", "key", "value", "out"), ("gate", "up", "down")
_NORMS = ("query_norm", "key_norm")
_NO_EFFECT = ("rotary_emb.inv_freq",)
"""Ends of the names of buffers that older writers stored, and that are computed again."""


@dataclass(frozen=True)
class Parts:
    """Names of LAYER: those that must have a bias, those that may, and whether heads have norms. `tied` models have no HEAD."""

    biased: Collection[str]
    may_be_biased: Collection[str]
    norms: bool
    tied: bool


def without_effect(name: str) -> bool:
    """Whether nothing that is computed depends on it."""
    return name.endswith(_NO_EFFECT)


def misfit(shapes: Shapes, decoder: Decoder, width: int, inner: int, vocabulary: int, parts: Parts) -> str:
    """What is wrong with the names and shapes, as the end of a sentence; "" where they fit. Only the sizes of `decoder` are read."""
    if decoder.layers > len(shapes):
        # Not one name is made for each layer that a hostile file claims.
        missing = next((at for at in range(decoder.layers) if f"model.layers.{at}.{LAYER['before']}" not in shapes), 0)
        return f"has no weight model.layers.{missing}.{LAYER['before']}: it was cut short"
    needed, allowed = _expected(decoder, width, inner, vocabulary, parts)
    for name in (*needed, *allowed):
        shape = needed.get(name) or allowed[name]
        if name not in shapes:
            if name in needed:
                return f"has no weight {name}: it was cut short"
        elif shapes[name] != shape:
            return f"has a weight {name} of {list(shapes[name])} where its sizes ask for {list(shape)}"
    if more := next((name for name in shapes if name not in needed and name not in allowed), ""):
        return f"has a weight {more}, which such a model does not use"
    return ""


def graph_bytes(shapes: Shapes) -> int:
    """Of the weights as `decoder_graph` writes them, in float32: an embedding that is the head too stands there twice."""
    twice: list[Shape] = [] if HEAD in shapes else [shapes[EMBEDDING]]
    return 4 * sum(math.prod(shape) for shape in [*shapes.values(), *twice])


def _expected(
    decoder: Decoder, width: int, inner: int, vocabulary: int, parts: Parts
) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """What must be there, and what may be."""
    queries, keys = decoder.heads * decoder.head, decoder.key_heads * decoder.head
    shapes: dict[str, Shape] = {
        "before": (width,), "query": (queries, width), "key": (keys, width), "value": (keys, width), "out": (width, queries),
        "query_norm": (decoder.head,), "key_norm": (decoder.head,), "between": (width,),
        "gate": (inner, width), "up": (inner, width), "down": (width, inner),
    }  # fmt: skip
    needed: dict[str, Shape] = {EMBEDDING: (vocabulary, width), LAST_NORM: (width,)}
    allowed: dict[str, Shape] = {}
    if not parts.tied:
        needed[HEAD] = (vocabulary, width)
    for number in range(decoder.layers):
        for part, shape in shapes.items():
            name = f"model.layers.{number}.{LAYER[part]}"
            if part in _NORMS and not parts.norms:
                continue
            if len(shape) == 1:
                needed[name] = shape
                continue
            needed[f"{name}.weight"] = shape
            if part in parts.biased:
                needed[f"{name}.bias"] = shape[:1]
            elif part in parts.may_be_biased:
                allowed[f"{name}.bias"] = shape[:1]
    return needed, allowed
