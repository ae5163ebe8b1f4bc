"""What the child is asked, and what it answers: the only things that cross into the process that opens the model."""

from __future__ import annotations

import msgspec

from assay.core.model_finding import ModelFinding


class ClaimedPort(msgspec.Struct, frozen=True):
    """An input or output as metadata.toml describes it."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class Request(msgspec.Struct, frozen=True):
    """`steps` are run in their order, without those in `skip`. Limits of the policy; 0 and empty ask for nothing."""

    model: str
    domains: tuple[str, ...] = ("", "ai.onnx", "ai.onnx.ml")
    opset: int = 26
    ir: int = 13
    allocation_bytes: int = 4_000_000_000
    loop_trips: int = 1_000_000
    claimed_opset: int = 0
    claimed_inputs: tuple[ClaimedPort, ...] = ()
    claimed_outputs: tuple[ClaimedPort, ...] = ()
    skip: tuple[str, ...] = ()


class StepStarted(msgspec.Struct, frozen=True, tag="entered"):
    """A step begins: whatever happens from here on is blamed on it."""

    step: str


class Found(msgspec.Struct, frozen=True, tag="found"):
    finding: ModelFinding


class Undecided(msgspec.Struct, frozen=True, tag="puzzled"):
    """A step of ours failed on this model for a reason that is nobody's fault yet."""

    step: str
    why: str


class Finished(msgspec.Struct, frozen=True, tag="ended"):
    """All steps are through. `counts` are what was looked at: nodes, attributes, tensors, functions."""

    counts: dict[str, int]


Answer = StepStarted | Found | Undecided | Finished
