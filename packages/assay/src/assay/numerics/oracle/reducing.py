"""Over axes, and one place of each row: what onnx.reference 1.23 computes otherwise than the standard, or not at all, on scalars,
negative infinities, whole numbers, axes in no order, and whole pictures."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_cum_prod import CumProd as _CumProd
from onnx.reference.ops.op_cum_sum import CumSum as _CumSum
from onnx.reference.ops.op_one_hot import OneHot as _OneHot

from assay.core.constraint import ConstraintCode
from assay.numerics.shapes.constraints import Conflict
from assay.ports import Tensor


class Shape(OpRun):
    """Sizes from `start` to before `end`, both clamped to the rank after counting from the back (Shape-15). That of onnx.reference 1.23
    slices with an `end` that is still negative, and so gives sizes where there are none."""

    op_domain = ""

    def _run(self, x: Tensor, start: int | None = None, end: int | None = None) -> tuple[Tensor]:
        ends = [
            x.ndim if bound is None else min(max(bound + x.ndim if bound < 0 else bound, 0), x.ndim)
            for bound in (start or 0, end)
        ]
        return (np.asarray(x.shape[ends[0] : ends[1]], np.int64),)


class GlobalMaxPool(OpRun):
    """The largest element of all axes behind the channel, which stay as axes of one element (GlobalMaxPool-22). That of
    onnx.reference 1.23 is of two spatial axes only: with one or three it answers in another rank."""

    op_domain = ""

    def _run(self, x: Tensor) -> tuple[Tensor]:
        return (np.max(x, axis=tuple(range(2, x.ndim)), keepdims=True),)


class GlobalAveragePool(OpRun):
    """The mean of all axes behind the channel; half precision is summed in single (GlobalAveragePool-22)."""

    op_domain = ""

    def _run(self, x: Tensor) -> tuple[Tensor]:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        return (np.mean(wide, axis=tuple(range(2, x.ndim)), keepdims=True).astype(x.dtype),)


class _Reduction(OpRun):
    """Axes are an attribute or, later, an input; without any all are meant, or none with `noop_with_empty_axes`."""

    op_domain = ""

    def _run(
        self, x: Tensor, given: Any = None, axes: Any = None, keepdims: Any = 1, noop_with_empty_axes: Any = 0, **_: Any
    ) -> tuple[Tensor]:
        named = axes if given is None else np.asarray(given).reshape(-1).tolist()
        if named is None or not len(named):
            if noop_with_empty_axes:
                return (self.reduced(x, (), True),)
            named = range(x.ndim)
        return (self.reduced(x, tuple(int(axis) for axis in named), keepdims != 0),)

    def reduced(self, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
        raise NotImplementedError


class ReduceLogSumExp(_Reduction):
    """log(sum(exp(x))), the largest element taken out first; minus infinity where all are."""

    def reduced(self, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
        wide = (
            x if x.dtype in (np.float32, np.float64) else x.astype(np.float64 if x.dtype.kind in "iu" else np.float32)
        )
        with np.errstate(all="ignore"):
            top = np.max(wide, axis=axes, keepdims=True, initial=-np.inf)
            level = np.where(np.isfinite(top), top, 0)
            total = np.log(np.sum(np.exp(wide - level), axis=axes, keepdims=True)) + level
        total = total if keepdims else np.squeeze(total, axes)
        return np.asarray(total, x.dtype)


class ReduceSumSquare(_Reduction):
    """In the type of the input; onnx.reference 1.23 gives int64 for int32."""

    def reduced(self, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x
        return np.asarray(np.sum(np.square(wide), axis=axes, keepdims=keepdims, dtype=wide.dtype)).astype(x.dtype)


class Mean(OpRun):
    """Of inputs that broadcast (Mean-13)."""

    op_domain = ""

    def _run(self, *inputs: Tensor) -> tuple[Tensor]:
        kind = inputs[0].dtype
        wide = [array.astype(np.float32) if array.dtype.itemsize == 2 else array for array in inputs]
        total = wide[0]
        for array in wide[1:]:
            total = total + array
        return (np.asarray(total / total.dtype.type(len(inputs))).astype(kind),)


class Softsign(OpRun):
    """x / (1 + |x|), of scalars too."""

    op_domain = ""

    def _run(self, x: Tensor) -> tuple[Tensor]:
        return (np.asarray(x / (1 + np.abs(x)), x.dtype),)


class CumSum(_CumSum):
    """The axis is a number; ONNX Runtime and exporters also write it as a list of one."""

    op_domain = ""

    def _run(self, x: Tensor, axis: Tensor, **attributes: Any) -> tuple[Tensor]:
        answer: tuple[Tensor] = super()._run(x, np.asarray(axis).reshape(()), **attributes)
        return answer


class CumProd(_CumProd):
    """Likewise."""

    op_domain = ""

    def _run(self, x: Tensor, axis: Tensor, **attributes: Any) -> tuple[Tensor]:
        answer: tuple[Tensor] = super()._run(x, np.asarray(axis).reshape(()), **attributes)
        return answer


class OneHot(_OneHot):
    """`depth` is "a scalar or a rank 1 tensor containing exactly one element" (OneHot-11)."""

    op_domain = ""

    def _run(self, indices: Tensor, depth: Tensor, values: Tensor, axis: Any = None) -> tuple[Tensor]:
        answer: tuple[Tensor] = super()._run(indices, np.asarray(depth).reshape(()), values, axis=axis)
        return answer


class Flatten(OpRun):
    """Two axes: what lies before `axis` and the others. onnx.reference 1.23 has -1 for the second, which nothing is left to say where
    there is no element."""

    op_domain = ""

    def _run(self, x: Tensor, axis: Any = 1) -> tuple[Tensor]:
        at = int(axis) + x.ndim if int(axis) < 0 else int(axis)
        return (x.reshape(int(np.prod(x.shape[:at], dtype=int)), int(np.prod(x.shape[at:], dtype=int))),)


class Unsqueeze(OpRun):
    """Axes of the output, in any order; an attribute before opset 13."""

    op_domain = ""

    def _run(self, x: Tensor, given: Any = None, axes: Any = None) -> tuple[Tensor]:
        named = axes if given is None else np.asarray(given).reshape(-1)
        return (np.expand_dims(x, tuple(int(axis) for axis in named)),)


class Unique(OpRun):
    """Distinct elements, or slices along an axis: in their order of size, or that of their first place; then first places, the place
    in the answer of each, and how often each is there."""

    op_domain = ""

    def _run(self, x: Tensor, axis: Any = None, sorted: Any = 1) -> tuple[Tensor, ...]:
        narrow = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
        values, first, inverse, counts = np.unique(
            x.astype(np.float32) if narrow else x, return_index=True, return_inverse=True, return_counts=True, axis=axis
        )
        inverse = inverse.reshape(-1)
        if sorted == 0:
            order = np.argsort(first, kind="stable")
            back = np.empty_like(order)
            back[order] = np.arange(len(order))
            values = values[order] if axis is None else np.take(values, order, axis=axis)
            first, counts, inverse = first[order], counts[order], back[inverse]
        arrays = (values.astype(x.dtype, copy=False), *(array.astype(np.int64) for array in (first, inverse, counts)))
        return arrays[: max(1, len(self.onnx_node.output))]


class MeanVarianceNormalization(OpRun):
    """(x - mean) / (deviation + 1e-9) over `axes`. onnx.reference 1.23 takes the standard's definition by others, whose constants are
    float32 only."""

    op_domain = ""

    def _run(self, x: Tensor, axes: Any = None) -> tuple[Tensor]:
        wide, over = x.astype(np.float64), tuple(axes or (0, 2, 3))
        centred = wide - wide.mean(axis=over, keepdims=True)
        deviation = np.sqrt(np.square(centred).mean(axis=over, keepdims=True))
        return ((centred / (deviation + 1e-9)).astype(x.dtype),)


class SequenceInsert(OpRun):
    """At a place from the front or, negative, from the back; at the end without one, and at the place behind the last, which
    onnx.reference 1.23 takes for the last."""

    op_domain = ""

    def _run(self, sequence: Any, tensor: Tensor, position: Any = None) -> tuple[list[Tensor]]:
        inserted = list(sequence or [])
        place = len(inserted) if position is None else int(np.asarray(position).reshape(-1)[0])
        if not -len(inserted) <= place <= len(inserted):
            raise Conflict(ConstraintCode.SEQUENCE_POSITION, position=place, size=len(inserted))
        inserted.insert(place, tensor)
        return (inserted,)


class Relu(OpRun):
    """The larger of x and 0. That of onnx.reference 1.23 copies what it has made, in the same type."""

    op_domain = ""

    def _run(self, x: Tensor) -> tuple[Tensor]:
        return (np.asarray(np.maximum(x, 0), x.dtype),)
