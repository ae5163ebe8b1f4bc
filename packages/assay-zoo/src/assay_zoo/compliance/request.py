"""What crosses into the process that opens the model, and back."""

from __future__ import annotations

import msgspec

from assay.core.model_finding import ModelFinding

RUNAWAY = ("allocation", "allocation-at-one", "declared-size", "loop", "endless-loop", "data-loop")
"""Codes after which following values may not end, and running the model either."""


class ClaimedPort(msgspec.Struct, frozen=True):
    """An input or output as metadata.toml describes it."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class Request(msgspec.Struct, frozen=True):
    """Limits of the policy; 0 and empty ask for nothing."""

    model: str
    domains: tuple[str, ...] = ("", "ai.onnx", "ai.onnx.ml")
    opset: int = 26
    ir: int = 13
    allocation_bytes: int = 4_000_000_000
    loop_trips: int = 1_000_000
    claimed_opset: int = 0
    claimed_inputs: tuple[ClaimedPort, ...] = ()
    claimed_outputs: tuple[ClaimedPort, ...] = ()


class Stepped(msgspec.Struct, frozen=True, kw_only=True):
    """What one step found. `puzzle`: it failed on this model for a reason that is nobody's fault yet, "" where it did not.
    `counts` are what was looked at so far: nodes, attributes, tensors, functions."""

    findings: tuple[ModelFinding, ...] = ()
    puzzle: str = ""
    counts: dict[str, int] = {}
