"""What judging one node gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.finding import Finding
from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

Values = Mapping[str, Tensor]


@dataclass(frozen=True)
class NodeValues:
    """One node or region: what it uses of its limit, where, and by what `kind` of tolerance."""

    node: str
    output: str
    budget: float
    finding: Finding | None = None
    kind: str = ""


def label(node: NodeProto) -> str:
    """How a node is called in a result."""
    return f"{node.name or node.output[0]} ({node.op_type})"
