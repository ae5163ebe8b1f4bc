"""Operators as they were before opset 7, 9 or 13: how two inputs met, where sizes and limits stood. onnx.reference 1.23 knows
none of these forms, or reads them as of today."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import NotComputed
from assay.numerics.shapes.constraints import Conflict
from assay.ports import Tensor


def _divided(x: Tensor, y: Tensor) -> Tensor:
    """Whole numbers are cut towards zero."""
    if x.dtype.kind not in "iu":
        return np.asarray(x / y, x.dtype)
    whole = np.asarray(x // y)
    return np.asarray(whole + ((whole < 0) & (whole * y != x)), x.dtype)


class _Two(OpRun):
    """Before opset 7 the second input meets the axes of the first from `axis` on, or the last ones (ONNX Add-6)."""

    op_domain = ""
    function: Callable[[Tensor, Tensor], Tensor]

    def _run(self, x: Tensor, y: Tensor, axis: Any = None, broadcast: Any = None, **_: Any) -> tuple[Tensor]:
        x, y = np.asarray(x), np.asarray(y)
        if x.dtype.kind in "fiu" and y.dtype != x.dtype and type(self).__name__ != "Pow":
            raise Conflict(ConstraintCode.INPUT_TYPES, one=x.dtype.name, other=y.dtype.name)
        if broadcast and axis is not None:
            first = axis % x.ndim if x.ndim else 0
            y = y.reshape(*y.shape, *[1] * (x.ndim - first - y.ndim))
        return (np.asarray(type(self).function(x, y)),)


class Gemm(OpRun):
    """alpha A' B' + beta C. onnx.reference 1.23 leaves C out before opset 7 unless `broadcast` is set, and has no Gemm-1."""

    op_domain = ""

    def _run(
        self,
        a: Tensor,
        b: Tensor,
        c: Tensor | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        transA: int | None = None,
        transB: int | None = None,
        **_: Any,
    ) -> tuple[Tensor]:
        left, right = a.T if transA else a, b.T if transB else b
        y = left @ right
        if alpha is not None and alpha != 1:
            y = y * np.asarray(alpha, np.float64 if y.dtype.kind in "iu" else y.dtype)
        if c is not None and (beta is None or beta != 0):
            y = y + (
                c
                if beta is None or beta == 1
                else c * np.asarray(beta, np.float64 if c.dtype.kind in "iu" else c.dtype)
            )
        return (np.asarray(y).astype(a.dtype, copy=False),)


class Clip(OpRun):
    """Limits are attributes before opset 11, inputs since. Where the lower is above the upper one, the upper wins (Clip-13)."""

    op_domain = ""

    def _run(self, x: Tensor, *limits: Tensor | None, min: Any = None, max: Any = None, **_: Any) -> tuple[Tensor]:
        low, high = (*limits, None, None)[:2]
        low, high = (min if low is None else low), (max if high is None else high)
        y = x if low is None else np.maximum(x, np.asarray(low, x.dtype))
        y = y if high is None else np.minimum(y, np.asarray(high, x.dtype))
        return (np.asarray(y, x.dtype),)


class Dropout(OpRun):
    """Dropout-1 and -6 hand on what they are given where `is_test` is set; Dropout-7 and -10 always do. Since opset 12 the
    third input says whether it trains. The mask is of bool since opset 10."""

    op_domain = ""

    def _run(
        self, x: Tensor, ratio: Any = None, training: Any = None, is_test: Any = None, seed: Any = None, **_: Any
    ) -> tuple[Tensor, ...]:
        version: int = self.run_params["opsets"][self.onnx_node.domain]
        if version < 7 and is_test != 1:
            raise NotComputed(opset=version, training=1)
        share = 0.5 if ratio is None or version < 12 else float(np.asarray(ratio))
        mask: Tensor = np.ones(x.shape, bool if version >= 10 else x.dtype)
        if version >= 12 and training is not None and bool(np.asarray(training)) and share:
            mask = np.asarray(np.random.default_rng(seed).random(x.shape) >= share)
            x = np.asarray(mask * x / (1 - share), x.dtype)
        return (x, mask)[: max(1, len(self.onnx_node.output))]


class Concat(OpRun):
    """Concat-1 has an axis by default: 1."""

    op_domain = ""

    def __init__(self, node: Any, parameters: Any, schema: Any = None) -> None:
        if not any(attribute.name == "axis" for attribute in node.attribute) and parameters["opsets"][node.domain] < 4:
            node = type(node).FromString(node.SerializeToString())
            node.attribute.add(name="axis", i=1, type=2)
        super().__init__(node, parameters, schema)

    def _run(self, *parts: Tensor, axis: int) -> tuple[Tensor]:
        return (np.concatenate(parts, axis=axis),)


class Split(OpRun):
    """Sizes are an input at opset 1 and since 13, an attribute between. Without sizes all are alike; the last one of Split-18 may
    be smaller."""

    op_domain = ""

    def _run(
        self,
        x: Tensor,
        sizes: Tensor | None = None,
        axis: Any = None,
        split: Any = None,
        num_outputs: Any = None,
        **_: Any,
    ) -> tuple[Tensor, ...]:
        place = int(axis or 0)
        pieces = split if sizes is None else np.asarray(sizes).tolist()
        count = len(self.onnx_node.output) if num_outputs is None else int(num_outputs)
        if pieces is None:
            each = -(-x.shape[place] // count)
            pieces = [each] * (count - 1) + [x.shape[place] - each * (count - 1)]
        if sum(pieces) != x.shape[place] or min(pieces, default=0) < 0:
            raise Conflict(ConstraintCode.SPLIT_INTO, axis=place, size=x.shape[place], parts=tuple(pieces))
        return tuple(np.split(x, np.cumsum(pieces)[:-1].astype(int), axis=place))


class Reshape(OpRun):
    """Sizes are an attribute before opset 5. 0 keeps a size, or is one with `allowzero`; -1 is what is left."""

    op_domain = ""

    def _run(self, x: Tensor, given: Any = None, shape: Any = None, allowzero: Any = None, **_: Any) -> tuple[Tensor]:
        sizes = [int(size) for size in np.asarray(shape if given is None else given).reshape(-1)]
        if min(sizes, default=0) < -1:
            raise Conflict(ConstraintCode.NO_SHAPE, sizes=tuple(sizes))
        if not allowzero:
            sizes = [x.shape[place] if size == 0 else size for place, size in enumerate(sizes)]
        return (x.reshape(sizes),)


def _of_two(name: str, function: Callable[[Tensor, Tensor], Tensor]) -> type[OpRun]:
    """An operator is known by the name of its class."""
    return type(name, (_Two,), {"function": staticmethod(function)})


Add = _of_two("Add", np.add)
Sub = _of_two("Sub", np.subtract)
Mul = _of_two("Mul", np.multiply)
Div = _of_two("Div", _divided)
Pow = _of_two("Pow", lambda x, y: np.power(x, y).astype(x.dtype))
And = _of_two("And", np.logical_and)
Or = _of_two("Or", np.logical_or)
Xor = _of_two("Xor", np.logical_xor)
Equal = _of_two("Equal", np.equal)
Greater = _of_two("Greater", np.greater)
Less = _of_two("Less", np.less)
