"""Rounding for people's eyes; the full precision stays in the results."""

from __future__ import annotations

import math

from assay.core.run import ModelSource


def model_source(source: ModelSource) -> str:
    """What a user named, and what it stood for: whole, so that it can be compared."""
    commit = f", commit {source.commit}" if source.commit else ""
    return f"{source.named} is sha256 {source.sha256}{commit}"


def budget(used: float | None, is_bound: bool) -> str:
    """With a sign before it where it is more than what is used (a coarse tolerance)."""
    return f"<{number(used)}" if is_bound and used else number(used)


def number(value: float | None) -> str:
    """Three significant digits, plain where that is readable: 0.21, 3.4, 12300, 2.1e-07; "" for None."""
    if value is None:
        return ""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def milliseconds(seconds: float | None) -> str:
    """`0.502 ms`, from seconds; "" for None."""
    return "" if seconds is None else f"{_three(seconds * 1e3)} ms"


def duration(seconds: float) -> str:
    """`42 ms`, `1.2 s`, `3 min 5 s`: the unit a person would pick."""
    if seconds < 1.0:
        return milliseconds(seconds)
    if seconds < 59.95:
        return f"{_three(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def change(percent: float | None) -> str:
    """`+4.4 %`; "" for None."""
    return "" if percent is None else f"{percent:+.1f} %"


def size(count: int | float | None) -> str:
    """Decimal units, as on a data sheet: `512 B`, `51.2 kB`, `79.7 MB`, `1.25 GB`; "" for None and 0 (not known)."""
    if not count:
        return ""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 999.5 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" else f"{_three(value)} {unit}"
        value /= 1000.0
    raise AssertionError("unreachable")


def metric(name: str, value: float) -> str:
    """A named metric with the unit that its name carries: `latency_p50_ms`, `run_peak_bytes`, `sqnr_db`."""
    if not math.isfinite(value):
        return number(value)
    if name.endswith("_ms"):
        return f"{number(value)} ms"
    if name.endswith("_bytes"):
        return size(value)
    if name.endswith("_percent"):
        return f"{number(value)} %"
    if name.endswith("_db"):
        return f"{number(value)} dB"
    if name.endswith("_per_s"):
        return f"{number(value)}/s"
    if name.endswith("_s"):
        return duration(value)
    if name in ("cosine", "norm_ratio"):
        # Three digits would show 1 for nearly everything that is worth looking at.
        return f"{value:.9f}".rstrip("0").rstrip(".")
    return number(value)


def _three(value: float) -> str:
    """Three significant digits, trailing zeros kept, so that a column of times does not jitter."""
    if value == 0 or not math.isfinite(value):
        return number(value)
    # Rounded first: 0.9996 has its digits where 1.00 has them.
    value = float(f"{value:.3g}")
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if abs(value) >= 1e-3 else 6
    return f"{value:.{digits}f}"


def cores(count: int) -> str:
    """`1 core`, `2 cores`."""
    return f"{count} core{'s' * (count != 1)}"
