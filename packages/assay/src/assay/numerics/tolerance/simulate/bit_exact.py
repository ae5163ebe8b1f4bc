"""Where the graph has no evaluation in double, what it only moves, or reads as another type, is known to the bit all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from assay.core.dtype import is_floating
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Header, OutputNoise
from assay.numerics.tolerance.rules.noise_rules import MOVEMENT, RULES
from assay.numerics.tolerance.simulate.double_evaluation import copied, named
from assay.numerics.tolerance.simulate.graph_study import Graph, ancestors
from assay.ports import Tensors


def derive_bits(
    proto: Any, inputs: Sequence[Tensors], graph: Graph, precision: str, arithmetic: Arithmetic, why: Lowering
) -> DerivedTolerance:
    """A profile with outputs of the kind `exact`, all others without a tolerance because of `why`. Raises `why` where no
    output is exact, and Lowering where the model cannot be evaluated in its own types either."""
    reason = noted(NoteCode.OUTPUT_NOT_EVALUATED, error=why.note or " ".join(str(why).split()))
    outputs = tuple(OutputNoise(name, graph.types.get(name, ""), "none", why=reason) for name in graph.outputs)
    exact = {name for name in graph.outputs if _is_exact(name, graph)}
    if not exact:
        raise why
    evaluator = Evaluator(copied(proto))
    with np.errstate(all="ignore"):
        answers = [named(graph.outputs, evaluator.evaluate(dict(sample))) for sample in inputs]
    header = Header(
        precision=precision,
        arithmetic=arithmetic,
        seed=0,
        samples=len(inputs),
        outputs=tuple(
            msgspec.structs.replace(output, kind="exact", why=None) if output.name in exact else output
            for output in outputs
        ),
    )
    nothing: list[Any] = [{} for _ in answers]
    return DerivedTolerance(header, answers, nothing, list(nothing))


def _is_exact(name: str, graph: Graph) -> bool:
    """Whether nothing on the way to the output computes."""
    return all(_moves(node, graph) and node.domain in ("", "ai.onnx") for node in ancestors(name, graph.producers))


def _moves(node: Any, graph: Graph) -> bool:
    """One with a rounding rule of its own does where its results are whole numbers."""
    if node.op_type not in MOVEMENT:
        return False
    return node.op_type not in RULES or not any(is_floating(graph.types.get(name, "float32")) for name in node.output)
