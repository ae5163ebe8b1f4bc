"""What a library itself warns of while it builds or runs an engine, as a code, a node and its own words."""

from __future__ import annotations

import enum

import msgspec


class WarningCode(enum.StrEnum):
    """What a warning is about. `node_on_cpu`: a node runs on the CPU and not on the device that was asked for. `fallback`: a part
    runs in another way than it could. `other`: none of these."""

    INITIALIZER_DROPPED = "initializer-dropped"
    NODE_ON_CPU = "node-on-cpu"
    FUSION_SKIPPED = "fusion-skipped"
    PRECISION_LOST = "precision-lost"
    FALLBACK = "fallback"
    DEPRECATED = "deprecated"
    OTHER = "other"


class NativeWarning(msgspec.Struct, frozen=True):
    """One warning: `node` is what it is about (a node, an initializer, an operator), "" where it names nothing. `text` are the library's
    own words, without time and place; `count` says how many nodes it speaks of. With a `count` of 0 it says nothing of the model (the
    machine has no GPU, a cache was made): it was read, and is not kept."""

    code: WarningCode
    node: str = ""
    text: str = ""
    count: int = 1
