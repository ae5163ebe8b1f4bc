"""What onnx.checker finds, as findings of our own: its words are read here, and nowhere else."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import MODEL, ModelPart, PartKind
from assay.models.examination.completion import completed
from assay.models.examination.quoting import flat, shown
from assay.models.examination.walk import Scope, domain_of, node_part

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_LONGEST = 600


class _Row(NamedTuple):
    """A message of the checker: the groups of `pattern` are the values, in the order of `order` where that differs; those that are
    names of a third party are quoted."""

    pattern: re.Pattern[str]
    code: str
    area: Area
    order: tuple[int, ...] = ()


def _row(pattern: str, code: str, area: Area, *order: int) -> _Row:
    return _Row(re.compile(pattern, re.S), code, area, order)


_ROWS = (
    _row(r"^No Op registered for (.*) with domain_version of (-?\d+)", "unknown-operator", Area.NODE, 2, 1),
    _row(r"^No [oO]pset (?:import|registered) for domain '?(.*?)'?$", "missing-import", Area.NODE),
    _row(r"^Op registered for (.*) is deprecated in domain_version of (\d+)", "deprecated", Area.NODE),
    _row(r"^Node ?\(.*\) with schema\(.*\) has (in|out)put size (\d+) not in range \[(.*)\]", "arity", Area.NODE),
    _row(r"^Node ?\(.*\)'s ((?:in|out)put \d+) is marked single but has an empty", "missing-operand", Area.NODE),
    _row(r"^Unrecognized attribute: (.*) for operator", "unknown-attribute", Area.ATTRIBUTE),
    _row(r"^Required attribute '(.*)' is missing", "missing-attribute", Area.ATTRIBUTE),
    _row(r"^Attribute '(.*)' appeared multiple times", "duplicate-attribute", Area.ATTRIBUTE),
    _row(
        r"^Mismatched attribute type in '.* : (.*)'\. Expected: '(.*)', actual: '(.*)'",
        "attribute-type", Area.ATTRIBUTE, 1, 3, 2,
    ),
    _row(r"^type field and data field mismatch in attribute (.*)\.", "attribute-value", Area.ATTRIBUTE),
    _row(r"^Function call chain depth exceeds limit \((\d+)\)", "call-depth", Area.FUNCTION),
    _row(r"same implementation id '(.*)'", "duplicate-function", Area.FUNCTION),
    _row(r"^(?:Sparse|sparse)(.*)", "sparse", Area.GRAPH),
    _row(r"however '(.*)' has been used as .* multiple times", "shadowed-value", Area.GRAPH),
    _row(r"(?:should contain one and only one|should be stored in field|raw_data field|should not have data)(.*)",
         "data-storage", Area.GRAPH),
    _row(r"ir_version (\d+) is higher than the checker's \((\d+)\)", "newer-ir", Area.MODEL),
    _row(r"ir_version set properly", "ir-version", Area.MODEL),
    _row(r"must specify opset_import", "no-imports", Area.MODEL),
    _row(r"duplicate keys in metadata_props", "duplicate-metadata", Area.MODEL),
    _row(r"^Field '(.*)' of '(.*)' is required", "missing-field", Area.GRAPH),
)  # fmt: skip
_NODE = re.compile(r"Bad node spec for node\. Name:\s*(?P<name>.*?)\s*OpType: (?P<op>\S*)")
_TENSOR = re.compile(r"tensor name: (?P<name>.*?)\)")
_NAMED = {
    "unknown-attribute",
    "missing-attribute",
    "duplicate-attribute",
    "attribute-value",
    "shadowed-value",
    "missing-import",
}
"""Codes whose first value is a name of a third party."""


def check_with_onnx(
    path: Path, model: ModelProto, everything: Sequence[Scope], *, altered: bool
) -> Iterator[ModelFinding]:
    """By path: external data are followed, and large models are not copied. It stops at the first thing it sees. A model that is not
    in the file as it is here (`altered`) is given itself, and its external data are found from its folder; so is one that lacks what
    the checker (onnx 1.23) alone demands."""
    from onnx import checker

    file = str(path.absolute())  # before the folder is changed
    with completed(model, everything) as whole:
        yield from whole.findings
        try:
            with contextlib.chdir(path.parent):
                checker.check_model(whole.model if altered or whole.changed else file)
        except checker.ValidationError as error:
            yield placed(str(error), path, everything)


def placed(text: str, path: Path, everything: Sequence[Scope] = ()) -> ModelFinding:
    """A sentence of the checker as a finding of the part that it speaks of."""
    message_text, _, context = text.partition("\n\n==> Context: ")
    node = _NODE.search(context)
    about = _node(node["name"], node["op"], everything) if node else MODEL
    tensor = _TENSOR.search(message_text)
    if tensor and not node:
        about = ModelPart(PartKind.INITIALIZER, tensor["name"])
    for pattern, code, area, order in _ROWS:
        if match := pattern.search(message_text):
            place = Area.FUNCTION if about == MODEL and area is Area.NODE else area
            place = Area.ATTRIBUTE if node and area is Area.GRAPH and code != "shadowed-value" else place
            values = [match[at] for at in order or range(1, len(match.groups()) + 1)]
            if code == "unknown-operator" and (since := _since(values[1], int(values[0]), everything)):
                code, values = "later-operator", [*values, str(since)]
            return ModelFinding(place, code, about, tuple(_written(code, values)))
    message = flat(message_text).replace(f"{path.parent}/", "")[:_LONGEST]
    return ModelFinding(_area(message_text, node is not None), "onnx-checker", about, (message,))


def _since(operator: str, version: int, everything: Sequence[Scope]) -> int:
    """The opset with which an operator came that `version` of its domain does not have; 0 where onnx knows of none."""
    from onnx import defs

    domains = {domain_of(node.domain) for scope in everything for node in scope.graph.node if node.op_type == operator}
    came = [
        op_schema.since_version
        for op_schema in defs.get_all_schemas_with_history()
        if op_schema.name == operator and domain_of(op_schema.domain) in domains
    ]
    return min(came) if came and min(came) > version else 0


def _written(code: str, values: list[str]) -> list[str]:
    if code in _NAMED and values:
        values[0] = shown(values[0] or "ai.onnx")
    if code == "arity":
        values = [
            values[1],
            f"{values[0]}puts",
            flat(values[2].replace("min=", "").replace("max=", "").replace(", ", " to ")),
        ]
        values[2] = _range(values[2])
    if code == "newer-ir":
        values = [*values, _onnx_version()]
    return [flat(value)[:_LONGEST] for value in values]


def _onnx_version() -> str:
    import onnx

    return onnx.__version__


def _range(text: str) -> str:
    """ "1 to 1" is 1, and the largest number of all is any."""
    least, _, most = text.partition(" to ")
    if least == most:
        return least
    return f"{least} or more" if len(most) > 6 else text


def _node(name: str, operator: str, everything: Sequence[Scope]) -> ModelPart:
    """A node without a name is looked for: the first of that operator that the checker refuses alone."""
    from onnx import checker

    if name:
        return ModelPart(PartKind.NODE, name, operator=operator)
    for scope in everything:
        alike = [(at, node) for at, node in enumerate(scope.graph.node) if node.op_type == operator and not node.name]
        context = checker.C.CheckerContext()
        context.ir_version = 10
        context.opset_imports = scope.opsets
        for at, node in alike:
            if len(alike) == 1 or _refused(node, context):
                return node_part(node, at, scope.where)
    return ModelPart(PartKind.NODE, operator=operator)


def _refused(node: NodeProto, context: object) -> bool:
    from onnx import checker

    try:
        checker.check_node(node, context)  # type: ignore[arg-type]
    except checker.ValidationError:
        return True
    return False


def _area(text: str, of_node: bool) -> Area:
    if of_node:
        return Area.NODE
    if re.search(r"external|outside the directory|symlink|hard link", text, re.IGNORECASE):
        return Area.MODEL
    return Area.FUNCTION if "unction" in text else Area.GRAPH
