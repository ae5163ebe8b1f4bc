"""Operators that ONNX Runtime rewrites together: data that `benchmarks/fuzz_pairs.py` writes."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources


@cache
def rewritten_after() -> dict[str, tuple[str, ...]]:
    """By an operator those that were rewritten behind it."""
    text = resources.files("assay.generators").joinpath("data/rewritten_pairs.json").read_text(encoding="utf-8")
    return {name: tuple(others) for name, others in json.loads(text).items()}
