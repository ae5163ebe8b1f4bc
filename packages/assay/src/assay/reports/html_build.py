"""What was built, as the page shows it: the engine, its weights, and the model that it was built from."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.engine_info import AppliedTransform, EngineInfo
from assay.core.measurement import Memory
from assay.core.model import Model, TensorSpec
from assay.core.result import MeasureResult, Result
from assay.core.result_parts import facts_of
from assay.reports import format as text
from assay.reports.sanitize import one_line

Pairs = list[list[str]]
SPARSE = 0.1
"""Share of zeros from which a weight is named."""


def engine_pairs(result: Result) -> Pairs:
    facts, memory = facts_of(result), result.memory if isinstance(result, MeasureResult) else Memory()
    known = (
        ("Backend version", facts.backend_version),
        ("Actual precision", facts.precision),
        ("Artifact", text.size(facts.artifact_bytes)),
        ("Artifact digest", facts.artifact_digest),
        ("Artifact reused, lowered by an earlier job", facts.reused),
        ("Memory before", text.size(memory.before_bytes)),
        ("Peak of load", text.size(memory.load_peak_bytes)),
        ("Peak of run", text.size(memory.run_peak_bytes)),
        *((f"Weights in {kind}", f"{layers} layers") for kind, layers in sorted(facts.weights.items())),
        *_sparsity(facts),
        *((f"Option {name}", value) for name, value in sorted(facts.options.items())),
        *((f"Transform {applied.transform}", _applied(applied)) for applied in facts.transforms),
    )
    return pairs(known)


def _sparsity(facts: EngineInfo) -> Iterable[tuple[str, str]]:
    """Of all weights, and of each that has zeros enough to speak of."""
    sparsity = facts.sparsity
    if sparsity is not None and sparsity.elements:
        yield "Zeros among the weights", f"{sparsity.zeros / sparsity.elements:.1%} of {sparsity.elements:,} elements"
        yield "Weights in a 2:4 pattern", f"{sparsity.two_of_four / sparsity.elements:.1%} of the elements"
        for weight in sparsity.weights:
            if weight.zeros / weight.elements >= SPARSE:
                pattern = ", 2:4" if weight.two_of_four else ""
                yield f"Weight {weight.name}", f"{weight.zeros / weight.elements:.1%} zeros{pattern}"
    if facts.sparse_kernels is not None:
        yield "Kernels that skip zeros", str(facts.sparse_kernels)


def _applied(applied: AppliedTransform) -> str:
    samples = f", calibrated with {len(applied.samples)} samples of seed {applied.seed}" if applied.samples else ""
    return f"{applied.version}{samples}, model {applied.digest[:12]}"


def model_pairs(model: Model) -> Pairs:
    opsets = ", ".join(f"{domain or 'ai.onnx'} {version}" for domain, version in sorted(model.opsets.items()))
    return pairs(
        (
            ("Source", model.source),
            ("Digest", model.digest),
            ("Size", text.size(model.size_bytes)),
            ("Nodes", str(model.nodes) if model.nodes else ""),
            ("Opsets", opsets),
            ("Inputs", "; ".join(_spec(spec) for spec in model.inputs)),
            ("Outputs", "; ".join(_spec(spec) for spec in model.outputs)),
        )
    )


def _spec(spec: TensorSpec) -> str:
    return f"{spec.name} {spec.dtype} {shape_text(spec.shape)}"


def shape_text(shape: Iterable[int | str]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def pairs(named: Iterable[tuple[str, str]]) -> Pairs:
    """Names with their values, empty values left out."""
    return [[one_line(name), one_line(value)] for name, value in named if value]
