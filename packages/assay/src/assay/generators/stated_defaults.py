"""A case whose one node states what the standard takes where it is left out: an engine that takes something else is right then, whatever
else the case has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import onnx

from assay.core.screening import STATED
from assay.generators.schemas import NotMade, schema_at
from assay.ports.generator import GeneratedCase


def with_defaults(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """One attribute at a time ("stated RoiAlign.sampling_ratio"); of one node alone."""
    model = onnx.load_from_string(case.model)
    opset = next((entry.version for entry in model.opset_import if entry.domain == ""), 0)
    if len(model.graph.node) != 1:
        return
    node = model.graph.node[0]
    try:
        attributes = schema_at(node.op_type, opset).attributes
    except NotMade:
        return
    stated = {attribute.name for attribute in node.attribute}
    for name in sorted(attributes.keys() - stated):
        default = attributes[name].default_value
        if default.type == onnx.AttributeProto.UNDEFINED:
            continue
        node.attribute.append(default)
        yield (
            f"{STATED}{node.op_type}.{name}",
            dataclasses.replace(case, model=model.SerializeToString(deterministic=True)),
        )
        del node.attribute[-1]
