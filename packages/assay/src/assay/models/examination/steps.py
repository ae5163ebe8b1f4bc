"""Everything that is looked at, in its order, on one page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding, Severity
from assay.models.examination.checker import check_with_onnx
from assay.models.examination.defined_names import check_names
from assay.models.examination.external import check_external
from assay.models.examination.functions import check_functions, functions_of
from assay.models.examination.header import check_header
from assay.models.examination.indices import check_indices
from assay.models.examination.inference import expanded, infer
from assay.models.examination.known_values import Known, known_in
from assay.models.examination.node_attributes import check_attributes
from assay.models.examination.operands import check_operands
from assay.models.examination.parse import parse
from assay.models.examination.quoting import flat
from assay.models.examination.stored_tensors import check_tensors, tensors_of
from assay.models.examination.types import check_types, shape_of
from assay.models.examination.walk import Scope, inside, scopes

if TYPE_CHECKING:
    from onnx import ModelProto

MOST_FINDINGS = 2000
"""Then a step is left: nobody reads on."""
_FOLLOWED = 1 << 16
"""Elements of a vector whose values inference may follow."""


@dataclass
class Examination:
    """What the steps share: the model at `path`, as far as it is known, and what was found so far. `altered`: it is not here as it
    is in the file (a domain is written by its other name)."""

    path: Path
    findings: list[ModelFinding] = field(default_factory=list)
    model: ModelProto | None = None
    altered: bool = False
    everything: list[Scope] = field(default_factory=list)
    expanded: ModelProto | None = None
    inferred: ModelProto | None = None

    def of(self, severity: Severity) -> list[ModelFinding]:
        return [finding for finding in self.findings if finding.severity is severity]

    def sound(self) -> bool:
        """Whether the model can be asked for more than its structure."""
        return self.model is not None and not self.of(Severity.INVALID)

    def counts(self) -> dict[str, int]:
        """What was looked at."""
        nodes = [node for scope in self.everything for node in scope.graph.node]
        return {
            "graphs": len(self.everything),
            "nodes": len(nodes),
            "attributes": sum(len(node.attribute) for node in nodes),
            "tensors": sum(1 for _ in tensors_of(self.everything)),
            "functions": len(self.model.functions) if self.model is not None else 0,
        }


Step = Callable[[Examination], Iterator[ModelFinding]]


def parsing(look: Examination) -> Iterator[ModelFinding]:
    """From bytes to a model, or why not."""
    from assay.numerics.oracle.domains import normalize

    look.model, findings = parse(look.path)
    yield from findings
    if look.model is not None:
        look.altered = normalize(look.model)
        look.everything = scopes(look.model)


def structure(look: Examination) -> Iterator[ModelFinding]:
    """What the model says of itself, of its names, attributes and types."""
    if look.model is None:
        return
    yield from check_header(look.model)
    yield from check_functions(look.model)
    yield from check_names(look.everything)
    yield from check_attributes(look.everything, functions_of(look.model))
    yield from check_types(look.everything)


def data(look: Examination) -> Iterator[ModelFinding]:
    """Stored tensors, in the file and beside it."""
    yield from check_external(look.everything, look.path)
    yield from check_tensors(look.everything)


def checker(look: Examination) -> Iterator[ModelFinding]:
    """onnx.checker: it stops at its first error, and so is asked only where we found none."""
    if look.model is not None and look.sound():
        yield from check_with_onnx(look.path, look.model, look.everything, altered=look.altered)


def shapes(look: Examination) -> Iterator[ModelFinding]:
    """Strict inference, and what its shapes say of constants."""
    if look.model is not None and look.sound():
        look.expanded = expanded(look.model, look.path.parent)
        yield from inferred(look, propagate=False)


def values(look: Examination) -> Iterator[ModelFinding]:
    """The same once more, with the values of shapes and indices followed where they are few."""
    if look.expanded is not None and look.sound() and look.inferred is not None and not _endless(look.inferred):
        yield from inferred(look, propagate=True)


STEPS: Mapping[str, Step] = {
    "parse": parsing,
    "structure": structure,
    "data": data,
    "onnx.checker": checker,
    "shapes": shapes,
    "values": values,
}


def inferred(look: Examination, *, propagate: bool) -> Iterator[ModelFinding]:
    """What inference finds, and the rules that read its shapes. `look.inferred` is the model with its shapes."""
    assert look.expanded is not None
    inference = infer(look.expanded, propagate=propagate)
    look.inferred = inference.model
    yield from inference.findings
    for known in known_everywhere(inference.model):
        yield from check_indices(known)
        yield from check_operands(known)


def known_everywhere(model: ModelProto) -> Iterator[Known]:
    """The main graph and every subgraph of a model whose functions are expanded."""
    everything = [known_in(scopes(model)[0])]
    for known in everything:
        yield known
        everything += [known_in(scope, known) for scope in inside(known.scope)]


def _endless(model: ModelProto) -> bool:
    """Whether some vector is too long for its values to be followed."""
    shapes = (shape_of(value.type) for value in (*model.graph.value_info, *model.graph.output))
    return any(
        shape is not None and len(shape) == 1 and isinstance(shape[0], int) and shape[0] > _FOLLOWED for shape in shapes
    )


def examine(path: Path, steps: Mapping[str, Step] = STEPS) -> Examination:
    """Every step, in this process: it parses the whole file, so that it is for worker processes. What is found twice is told once."""
    look = Examination(path)
    for name, step in steps.items():
        try:
            for _ in take(look, step):
                pass
        except (MemoryError, RecursionError):
            raise
        except Exception as error:
            if look.model is None:
                raise
            # A rule of ours that does not know this model is no fault of the model.
            values = (name, type(error).__name__, flat(str(error))[:200])
            look.findings.append(ModelFinding(Area.MODEL, "step-failed", values=values, severity=Severity.REMARK))
    return look


def take(look: Examination, step: Step) -> Iterator[ModelFinding]:
    """One step: what is new."""
    before = set(look.findings)
    for finding in step(look):
        if finding not in before:
            before.add(finding)
            look.findings.append(finding)
            yield finding
        if len(before) >= MOST_FINDINGS:
            return
