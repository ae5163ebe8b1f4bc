"""A model after the transforms of its flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.core.dtype import dtype_name, is_floating, numpy_dtype
from assay.core.engine_info import AppliedTransform
from assay.ports import Tensor


@dataclass(frozen=True)
class TransformedModel:
    """The `model` to lower. `standard` is the model as quantized, nothing else done to it: what the backend is judged by;
    None where nothing was quantized. `changed`: some transform changed the precision; then `takes` and `gives` are the types of
    its inputs and outputs, by name."""

    model: Path
    applied: tuple[AppliedTransform, ...] = ()
    standard: Path | None = None
    changed: bool = False
    takes: dict[str, str] = field(default_factory=dict)
    gives: dict[str, str] = field(default_factory=dict)

    def fed(self, samples: Sequence[Mapping[str, Tensor]]) -> list[dict[str, Tensor]]:
        """Copies of the samples in the types that the rewritten model takes: whoever deploys it feeds it so. An engine that writes
        into its inputs does not reach what it is judged by."""
        return [{name: _as(array, self.takes.get(name, "")) for name, array in sample.items()} for sample in samples]


def _as(array: Tensor, dtype: str) -> Tensor:
    """Between floating types only: another change of type would be another model."""
    name = dtype_name(array.dtype)
    other = dtype != name and is_floating(dtype) and is_floating(name)
    return array.astype(numpy_dtype(dtype)) if other else array.copy(order="K")
