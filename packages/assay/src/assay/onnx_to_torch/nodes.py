"""A node of an ONNX graph as its torch function sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.core.note import Note, noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import Lowering, Unsupported

if TYPE_CHECKING:
    from onnx import NodeProto


@dataclass(frozen=True)
class Node:
    """`opset` is the version of the node's own domain; texts among the attributes are `str`."""

    operator: str
    domain: str
    name: str
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What errors call the node: its name, or what it computes."""
        return self.name or f"{self.operator} -> {', '.join(self.outputs)}"

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def wants(self, index: int) -> bool:
        """Whether somebody reads that output."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def unsupported(self, why: Note) -> Unsupported:
        """The error for a form of the operator that is not there."""
        return Unsupported(self._with_name(why), node=self.label)

    def failed(self, why: Note) -> Lowering:
        """The error for values that the operator cannot be computed for."""
        return Lowering(self._with_name(why), node=self.label)

    def _with_name(self, why: Note) -> Note:
        return noted(ConversionCode.IN_NODE, operator=self.operator, node=self.label, error=why)


def read_node(proto: NodeProto, opset: int) -> Node:
    from onnx.helper import get_attribute_value

    return Node(
        operator=proto.op_type,
        domain=proto.domain if proto.domain != "ai.onnx" else "",
        name=proto.name,
        opset=opset,
        inputs=tuple(proto.input),
        outputs=tuple(proto.output),
        attributes={attribute.name: _plain(get_attribute_value(attribute)) for attribute in proto.attribute},
    )


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return [text.decode("utf-8", "replace") for text in value]
    return value
