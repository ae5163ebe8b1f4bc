"""What rewrites a model before it is lowered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.ports.values import Availability, Tensors


class Transform(Protocol):
    """Rewrites a model before it is lowered: its precision, its quantization, its opset. Instantiated without arguments.

    A flow names its transforms in order, each as `name` or `name:argument` (`opset:17`, `int8-qdq:per-channel`).
    Conformance: `assay.testing.check_transform`.
    """

    @property
    def name(self) -> str: ...

    @property
    def accepts(self) -> str:
        """The form of model it reads and writes: "onnx" or "torch"."""
        ...

    @property
    def precision(self) -> str:
        """The coarsest type it introduces ("int8", "float16"): the flow's outputs are judged by it. "": it changes none."""
        ...

    @property
    def calibrated(self) -> bool:
        """Whether it needs samples. They are taken from the golden set, and those taken are never judged."""
        ...

    def availability(self) -> Availability:
        """As for a backend."""
        ...

    def prepare(self) -> None:
        """Import what it needs (the `import` stage)."""
        ...

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """Write the rewritten model into an existing empty folder and return its path; `model` stays as it is.

        Raises errors of `assay.errors.Lowering` for a model that it cannot serve, UsageError for an argument that it
        does not know.
        """
        ...


@runtime_checkable
class PartlyCalibrated(Protocol):
    """A calibrated transform that needs no samples with some arguments."""

    @property
    def uncalibrated(self) -> tuple[str, ...]:
        """Those arguments."""
        ...


@runtime_checkable
class HasArguments(Protocol):
    """A transform with several ways to go about it: triage tries the others where one ends in a model that is computed wrongly."""

    @property
    def arguments(self) -> tuple[str, ...]:
        """All of them; the first is that of the bare name."""
        ...


def needs_samples(transform: Transform, argument: str) -> bool:
    """Whether it must be given samples, with this argument."""
    if isinstance(transform, PartlyCalibrated) and argument in transform.uncalibrated:
        return False
    return transform.calibrated
