"""The definition that a node goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.models.examination.walk import domain_of

if TYPE_CHECKING:
    from onnx import NodeProto
    from onnx.defs import OpSchema

VERSIONS = 2**31
"""onnx reads the version of an operator set as a 32-bit number."""


def schema_of(node: NodeProto, opsets: dict[str, int]) -> OpSchema | None:
    """None where onnx knows of none."""
    from onnx import defs

    domain = domain_of(node.domain)
    version = opsets.get(domain, 0)
    if not 0 < version < VERSIONS:
        return None
    try:
        return defs.get_schema(node.op_type, version, domain)
    except defs.SchemaError:
        return None
