"""Operators that ONNX Runtime rewrites together: data that `benchmarks/fuzz_pairs.py` writes."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from assay.generators.mined import own_patterns
from assay.generators.operators import forms


@cache
def rewritten_after() -> dict[str, tuple[str, ...]]:
    """By an operator those that were rewritten behind it."""
    text = resources.files("assay.generators").joinpath("data/rewritten_pairs.json").read_text(encoding="utf-8")
    return {name: tuple(others) for name, others in json.loads(text).items()}


@cache
def rewritten() -> tuple[str, ...]:
    """Operators that an optimiser was seen to rewrite beside others, and those of which functions consist."""
    after = rewritten_after()
    operators = {*after, *(name for others in after.values() for name in others)}
    operators |= {node.operator for pattern in own_patterns() for node in pattern.nodes}
    return tuple(sorted(operators & forms().keys()))
