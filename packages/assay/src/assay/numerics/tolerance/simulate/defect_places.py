"""Where the defects of the self-test are built in: operators that are named, and say most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.core.dtype import is_floating
from assay.numerics.operators.index import record_of
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance.rules.noise_rules import MOVEMENT
from assay.numerics.tolerance.simulate.graph_study import WEIGHTS, Graph

if TYPE_CHECKING:
    from onnx import NodeProto


def defect_label(node: NodeProto) -> str:
    return str(node.name or node.output[0])


def middle_tensor(evaluator: Evaluator, graph: Graph) -> tuple[NodeProto, str] | None:
    """The operator in the middle of those with weights, one that sums where there is any, and the weight of its sum; of all
    that compute where none has weights."""
    nodes = _weighty(evaluator, graph) or _computing(evaluator, graph)
    summing = [(node, weight) for node in nodes if (weight := _summed(node, graph))]
    if summing:
        return summing[len(summing) // 2]
    return (nodes[len(nodes) // 2], "") if nodes else None


def last_tensor(evaluator: Evaluator, graph: Graph) -> NodeProto | None:
    """The last operator with weights; of all that compute where none has any."""
    return next(reversed(_weighty(evaluator, graph) or _computing(evaluator, graph)), None)


def _weighty(evaluator: Evaluator, graph: Graph) -> list[NodeProto]:
    return [node.onnx_node for node in evaluator.rt_nodes_ if node.op_type in WEIGHTS and node.output[0] in graph.data]


def _computing(evaluator: Evaluator, graph: Graph) -> list[NodeProto]:
    """Those whose answers are real numbers that they do not only move."""
    nodes = (node.onnx_node for node in evaluator.rt_nodes_ if node.op_type not in MOVEMENT)
    return [node for node in nodes if node.output[0] in graph.data and is_floating(graph.types.get(node.output[0], ""))]


def _summed(node: NodeProto, graph: Graph) -> str:
    if record_of(node.op_type).contracted is None:
        return ""
    places = [at for at in WEIGHTS[node.op_type] if at < len(node.input)]
    return next((str(node.input[at]) for at in places if node.input[at] in graph.weights), "")
