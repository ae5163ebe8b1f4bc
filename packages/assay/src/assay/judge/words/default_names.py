"""What a backend does unasked that changes numbers, in words, and the option that turns it off."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.engine_info import EngineInfo, NumericDefault

EFFECTS = {
    "dynamic-quantization": "quantizes activations to eight bits while it runs",
    "cache-precision": "keeps what attention remembers in a coarser type",
    "coarse-products": "multiplies in a coarser type than float32",
    "denormals": "takes numbers below the normal ones of their type for zero",
    "saturating-sums": "adds up products of eight bits in sixteen, which saturates",
    "winograd": "computes convolutions by Winograd's transforms",
    "fused-multiply-add": "rounds a product and the sum that takes it only once",
    "narrowed-doubles": "computes in float32 what the model computes in double",
    "unrounded-intermediates": "keeps values between fused operators in float32 that the model rounds to sixteen bits",
    "fast-math": "lets the compiler reorder and contract floating-point operations",
}
"""What each code means, after the name of the backend."""


def named(facts: EngineInfo) -> str:
    """Of a mismatch: the setting without which the answers are right, else those that may be at fault; "" where there is none."""
    defaults = facts.numeric_defaults
    cured = [default for default in defaults if default.cures]
    if cured:
        options = " ".join(map(_option, cured))
        return f"; its cause: by default the backend {_joined(cured)}; with `{options}` the answers are right"
    open_ = [default for default in defaults if default.cures is None]
    if not open_:
        return ""
    options = " ".join(_option(numeric_default) for numeric_default in open_ if numeric_default.option)
    return f"; by default the backend {_joined(open_)}" + (f": try `{options}`" if options else "")


def _joined(defaults: Sequence[NumericDefault]) -> str:
    return " and ".join(map(_described, defaults))


def _described(default: NumericDefault) -> str:
    return f"{EFFECTS.get(default.effect, default.effect)} ({default.name}={default.value})"


def _option(default: NumericDefault) -> str:
    value = str(default.off).lower() if isinstance(default.off, bool) else default.off
    return f"--option {default.option}={value}"
