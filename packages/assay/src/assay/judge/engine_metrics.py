"""What the engine really is, as metrics: shares of precision, operators delegated, fused, and casts added."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.dtype import is_floating
from assay.core.engine_info import EngineInfo, Placement

SHARES = ("float64", "float32", "tf32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int4")
"""Types whose share is told whenever any is, 0 included: "no float32 at all" is something to ask for."""

_SHORT = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8": "float8_e4m3fn"}
"""How vendors' tools call them."""

_SIGN_APART = {"uint8": "int8", "uint4": "int4", "uint2": "int2"}
_QUANTIZED = {"int8", "int4", "int2"}
_MOVING = {"cast", "reformat"}


def engine_metrics(facts: EngineInfo) -> dict[str, float]:
    """Only what the backend told: a metric that is not known is absent, and no limit on it is kept.

    `precision.<type>` is the share among operators that compute in a floating or a quantized type. Casts and reformats
    do not count, nor does what handles shapes, indices and text.
    """
    named: dict[str, float] = {}
    if facts.placements or facts.undelegated or facts.delegated is not None:
        named["undelegated"] = float(len(facts.undelegated))
    if facts.delegated is not None:
        named["delegated"] = float(facts.delegated)
    if facts.placements:
        named["operators"] = _total(facts.placements)
        named.update(_shares(facts.placements))
    if facts.placements and all(placement.role for placement in facts.placements):
        named["fused"] = _total(placement for placement in facts.placements if placement.role == "fused")
        named["casts"] = _total(placement for placement in facts.placements if placement.role in _MOVING)
    named.update(_sparsity(facts))
    return named


def _sparsity(facts: EngineInfo) -> dict[str, float]:
    sparsity = facts.sparsity
    named = {"sparsity.kernels": float(facts.sparse_kernels)} if facts.sparse_kernels is not None else {}
    if sparsity is not None and sparsity.elements:
        named["sparsity.zero_share"] = sparsity.zeros / sparsity.elements
        named["sparsity.two_of_four_share"] = sparsity.two_of_four / sparsity.elements
    return named


def in_full(metric: str) -> str:
    """The name by which a metric is recorded: `precision.float16` of `precision.fp16`."""
    family, _, name = metric.partition(".")
    return f"{family}.{_SHORT[name]}" if family == "precision" and name in _SHORT else metric


def _total(placements: Iterable[Placement]) -> float:
    return float(sum(placement.count for placement in placements))


def _shares(placements: Iterable[Placement]) -> dict[str, float]:
    counts = dict.fromkeys(SHARES, 0.0)
    for placement in placements:
        precision = _SIGN_APART.get(placement.precision, placement.precision)
        if placement.role not in _MOVING and (is_floating(precision) or precision in _QUANTIZED):
            counts[precision] = counts.get(precision, 0.0) + placement.count
    total = sum(counts.values())
    return {f"precision.{name}": count / total for name, count in counts.items()} if total else {}
