"""A graph in single precision, made of the one in double: operators that no type is written into are shared."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from onnx import NodeProto
from onnx.reference.op_run import OpFunction, OpRun

from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.oracle.to_float64 import to_float64
from assay.ports import Tensors


class Float32Evaluator(WideEvaluator):
    """Its answers are noisy; differences between two of them, far above its rounding, are not."""

    computes_in = "float32"

    @classmethod
    def beside(cls, wide: WideEvaluator, proto: Any, weights: Tensors) -> Float32Evaluator:
        """Of the model that `wide` was made of, without its weights; a model that is taken is changed."""
        hidden = any(isinstance(node, OpFunction) or node.has_subgraph for node in wide.rt_nodes_)
        if hidden or wide.functions_ or len(wide.rt_inits_) > len(weights):
            return cls(proto, weights=weights)
        single = cls.__new__(cls)
        single.__dict__.update(wide.__dict__)
        single.rt_inits_ = {}
        single.take(weights)
        single.rt_nodes_ = [_narrowed(node) for node in wide.rt_nodes_]
        return single


def _narrowed(node: OpRun) -> OpRun:
    """The operator itself where its attributes say nothing of a real type."""
    if not node.onnx_node.attribute:
        return node
    narrow = NodeProto()
    narrow.CopyFrom(node.onnx_node)
    to_float64(narrow, Float32Evaluator.computes_in)
    return node if narrow == node.onnx_node else type(node)(narrow, node.run_params)
