"""What onnx.checker demands and every backend does without: put in while the checker looks, and told to whoever refuses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.core.model_part import ModelPart, PartKind
from assay.models.examination.node_schema import schema_of
from assay.models.examination.walk import Scope, domain_of, node_part

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

_NO_INPUTS_IR = 4
"""The IR version since which an initializer need not be an input, too."""
_FUNCTIONS_IR = 8
"""The IR version from which on the checker looks at functions. They are called whatever the model says."""


@dataclass
class Completed:
    """`model` is what the checker is shown; `changed` where that is not what the file holds."""

    model: ModelProto
    changed: bool = False
    findings: list[ModelFinding] = field(default_factory=list)
    undo: list[Callable[[], object]] = field(default_factory=list)

    def standard(self) -> ModelProto:
        """A copy that every reader of the standard takes, with the types of its outputs as its nodes give them."""
        from onnx import ModelProto as Model
        from onnx import shape_inference

        whole = Model()
        whole.CopyFrom(self.model)
        about = {finding.about for finding in self.findings}
        untyped = [value for value in whole.graph.output if ModelPart(PartKind.OUTPUT, value.name) in about]
        for value in untyped:
            value.ClearField("type")
        return shape_inference.infer_shapes(whole) if untyped else whole


@contextmanager
def completed(model: ModelProto, everything: Sequence[Scope]) -> Iterator[Completed]:
    """The model itself, changed, and as it was when this ends."""
    shown_one = Completed(model)
    try:
        _shapes(shown_one, everything)
        _names(shown_one, everything)
        _types(shown_one)
        _initializers(shown_one)
        _functions(shown_one)
        _deprecated(shown_one, everything)
        shown_one.changed = bool(shown_one.undo) or shown_one.model is not model
        yield shown_one
    finally:
        for undo in shown_one.undo:
            undo()


def _shapes(done: Completed, everything: Sequence[Scope]) -> None:
    """Of values of unknown rank, which exporters write."""
    for scope in everything:
        for value in (*scope.graph.input, *scope.graph.output) if scope.function is None else ():
            kind = value.type.tensor_type
            if value.type.HasField("tensor_type") and not kind.HasField("shape"):
                kind.shape.SetInParent()
                done.undo.append(lambda kind=kind: kind.ClearField("shape"))  # type: ignore[misc]


def _names(done: Completed, everything: Sequence[Scope]) -> None:
    for scope in everything:
        if scope.function is None and not scope.graph.name:
            scope.graph.name = "graph"
            done.undo.append(lambda graph=scope.graph: graph.ClearField("name"))  # type: ignore[misc]
            about = ModelPart(inside=scope.where)
            done.findings.append(_restricted(Area.GRAPH, "missing-field", about, "name", "graph"))


def _types(done: Completed) -> None:
    """Of outputs, which follow from the nodes that compute them."""
    computed = {name for node in done.model.graph.node for name in node.output}
    for value in done.model.graph.output:
        if value.type.WhichOneof("value") is None and value.name in computed:
            value.type.tensor_type.elem_type = 1
            value.type.tensor_type.shape.SetInParent()
            done.undo.append(lambda value=value: value.ClearField("type"))  # type: ignore[misc]
            about = ModelPart(PartKind.OUTPUT, value.name)
            done.findings.append(_restricted(Area.GRAPH, "missing-field", about, "type", "value_info"))


def _initializers(done: Completed) -> None:
    model = done.model
    inputs = {value.name for value in model.graph.input}
    alone = [tensor.name for tensor in model.graph.initializer if tensor.name not in inputs]
    version = model.ir_version
    if not 0 < version < _NO_INPUTS_IR or not alone:
        return
    model.ir_version = _NO_INPUTS_IR
    done.undo.append(lambda: setattr(model, "ir_version", version))
    about = ModelPart(PartKind.INITIALIZER, alone[0])
    done.findings.append(_restricted(Area.GRAPH, "initializer-no-input", about, version, _NO_INPUTS_IR))


def _functions(done: Completed) -> None:
    model = done.model
    version = model.ir_version
    if model.functions and 0 < version < _FUNCTIONS_IR:
        model.ir_version = _FUNCTIONS_IR
        done.undo.append(lambda: setattr(model, "ir_version", version))


def _deprecated(done: Completed, everything: Sequence[Scope]) -> None:
    """Operators that were replaced and that say what they are made of."""
    replaced = set()
    for scope in everything:
        for index, node in enumerate(scope.graph.node):
            if _is_replaced(node, scope):
                about = node_part(node, index, scope.where)
                if wrong := _wrong_count(node, scope):
                    # What is not called as it is declared cannot be replaced, either.
                    done.findings.append(ModelFinding(Area.NODE, "arity", about, wrong))
                    return
                replaced.add((domain_of(node.domain), node.op_type))
                version = scope.opsets[domain_of(node.domain)]
                done.findings.append(_restricted(Area.NODE, "deprecated", about, node.op_type, version))
    if replaced:
        done.model = _replaced(done.model, sorted(replaced))


def _replaced(model: ModelProto, operators: list[tuple[str, str]]) -> ModelProto:
    """A copy. The inliner (onnx 1.23) replaces nothing where one function goes by another opset than the model: such a function stays as
    it is."""
    from onnx import ModelProto as Model
    from onnx import inliner

    imports = {domain_of(entry.domain): entry.version for entry in model.opset_import}
    others = [
        function
        for function in model.functions
        if any(
            imports.setdefault(domain_of(entry.domain), entry.version) != entry.version
            for entry in function.opset_import
        )
    ]
    bare = Model()
    bare.CopyFrom(model)
    del bare.functions[:]
    bare.functions.extend(function for function in model.functions if function not in others)
    whole = inliner.inline_selected_functions(bare, operators, inline_schema_functions=True)
    whole.functions.extend(others)
    return whole


def _is_replaced(node: NodeProto, scope: Scope) -> bool:
    schema = schema_of(node, scope.opsets)
    if schema is None or not schema.deprecated:
        return False
    # The stubs of onnx 1.23 do not know these two.
    return bool(schema.has_function or schema.has_context_dependent_function)  # type: ignore[attr-defined]


def _wrong_count(node: NodeProto, scope: Scope) -> tuple[str, str, str] | None:
    """How many inputs or outputs it has, and how many its operator has."""
    schema = schema_of(node, scope.opsets)
    assert schema is not None
    for count, what, least, most in (
        (len(node.input), "inputs", schema.min_input, schema.max_input),
        (len(node.output), "outputs", schema.min_output, schema.max_output),
    ):
        if not least <= count <= most:
            return str(count), what, f"{least}" if least == most else f"{least} to {most}"
    return None


def _restricted(area: Area, code: str, about: ModelPart, *values: int | str) -> ModelFinding:
    return ModelFinding(area, code, about, values, Severity.RESTRICTED)
