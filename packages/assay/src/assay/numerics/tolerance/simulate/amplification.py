"""By how much noise is amplified, so that single precision shows it."""

from __future__ import annotations

from typing import Any

from assay.errors import Lowering
from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.oracle.float32_graph import Float32Evaluator
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.simulate.graph_study import Graph
from assay.ports import Tensors

AMPLIFIED = 2.0**9
"""Noise far enough above the rounding of the evaluation itself, and small enough not to cross a kink more often."""
_COARSE = 2.0**-13
_FINE = 2.0**-30


def single_evaluator(
    wide: WideEvaluator, proto: Any, weights: Tensors, arithmetic: Arithmetic, graph: Graph
) -> Float32Evaluator | None:
    """None where single precision is too coarse to show the noise, or where amplifying would cross jumps."""
    if _finest(arithmetic) < _FINE or (not _is_loud(arithmetic) and graph.jumps):
        return None
    try:
        return Float32Evaluator.beside(wide, proto, weights)
    except (Lowering, ValueError):
        return None


def amplification(arithmetic: Arithmetic, graph: Graph, *, single: bool) -> float:
    """Of evaluations in `single` precision, or in double."""
    if _is_loud(arithmetic):
        return 1.0
    if single:
        return AMPLIFIED
    fine = arithmetic.storage < _FINE or (_finest(arithmetic) < _FINE and not graph.jumps)
    return AMPLIFIED if fine else 1.0


def _is_loud(arithmetic: Arithmetic) -> bool:
    """Whether its noise is seen in single precision as it is."""
    return arithmetic.storage >= _COARSE or arithmetic.weight_levels > 0


def _finest(arithmetic: Arithmetic) -> float:
    return arithmetic.of("float64").storage
