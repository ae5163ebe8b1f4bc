"""Flags that every version has."""

from __future__ import annotations

from typing import Any


def bit(flag: Any) -> int:
    """Creation flags are positions of bits."""
    return 1 << int(flag)


def set_tf32(trt: Any, config: Any, *, allowed: bool) -> None:
    """On by default in every version: a float32 flow has to say no."""
    (config.set_flag if allowed else config.clear_flag)(trt.BuilderFlag.TF32)
