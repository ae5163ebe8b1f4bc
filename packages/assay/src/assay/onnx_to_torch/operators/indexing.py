"""Reading and writing elements by index. Negative indices count from the end."""

from __future__ import annotations

from typing import Any

import torch

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import integer, ints

Tensor = torch.Tensor


@operator("Gather", host=(1,))
def gather(node: Node, x: Tensor, indices: Any) -> Tensor:
    axis = node.get("axis", 0) % x.ndim
    if not isinstance(indices, Tensor):
        if indices.ndim == 0 and not isinstance(indices.item(), torch.SymInt):
            return torch.select(x, axis, int(indices))
        from assay.onnx_to_torch.values import tensor

        indices = tensor(indices, x.device)
    index = _counted(indices, x.shape[axis])
    if x.dtype in (torch.uint16, torch.uint32, torch.uint64):
        return (
            torch.index_select(x.to(torch.int64), axis, index.reshape(-1))
            .reshape([*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]])
            .to(x.dtype)
        )
    if axis == 0 and x.ndim == 2 and x.is_floating_point():
        return torch.nn.functional.embedding(index, x)
    picked = torch.index_select(x, axis, index.reshape(-1))
    return picked.reshape([*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]])


def _counted(index: Tensor, size: Any) -> Tensor:
    index = index.to(torch.int64)
    return torch.where(index < 0, index + size, index)


@operator("GatherElements")
def gather_elements(node: Node, x: Tensor, indices: Tensor) -> Tensor:
    axis = node.get("axis", 0) % x.ndim
    return torch.gather(x, axis, _counted(indices, x.shape[axis]))


@operator("GatherND")
def gather_nd(node: Node, x: Tensor, indices: Tensor) -> Tensor:
    batch = node.get("batch_dims", 0)
    depth = indices.shape[-1]
    lead = list(x.shape[:batch])
    rows = [
        torch.arange(size, device=x.device).reshape([-1 if i == at else 1 for i in range(indices.ndim - 1)])
        for at, size in enumerate(lead)
    ]
    # torch counts negative ones from the end itself, and refuses those before the beginning.
    parts = [indices[..., i].to(torch.int64) for i in range(depth)]
    return x[(*rows, *parts)]


@operator("ScatterElements", "Scatter")
def scatter_elements(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    axis = node.get("axis", 0) % x.ndim
    index = _counted(indices, x.shape[axis])
    how = node.get("reduction", "none")
    if how == "none":
        return torch.scatter(x, axis, index, updates)
    return torch.scatter_reduce(x, axis, index, updates, _reduction(node, how), include_self=True)


@operator("ScatterND")
def scatter_nd(node: Node, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Flat: the leading dimensions that the index names become one."""
    depth = indices.shape[-1]
    sizes = list(x.shape[:depth])
    flat: Any = torch.zeros(indices.shape[:-1], dtype=torch.int64, device=x.device)
    total: Any = 1
    for i, size in enumerate(sizes):
        flat = flat * size + _counted(indices[..., i], size)
        total = total * size
    rest = list(x.shape[depth:])
    count: Any = 1
    for length in rest:
        count = count * length
    rows = x.reshape(total, count)
    index = flat.reshape(-1, 1).expand(-1, count)
    values = updates.reshape(-1, count)
    how = node.get("reduction", "none")
    if how == "none":
        return torch.scatter(rows, 0, index, values).reshape(x.shape)
    return torch.scatter_reduce(rows, 0, index, values, _reduction(node, how), include_self=True).reshape(x.shape)


def _reduction(node: Node, how: str) -> str:
    names = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}
    if how not in names:
        raise node.unsupported(noted(ConversionCode.REDUCTION, reduction=how))
    return names[how]


@operator("TensorScatter")
def tensor_scatter(node: Node, past: Tensor, update: Tensor, start: Tensor | None = None) -> Tensor:
    """A key-value cache written at each row's own position, linear or as a ring."""
    axis = node.get("axis", -2) % past.ndim
    length = update.shape[axis]
    steps = torch.arange(length, device=past.device)
    at = steps[None, :] if start is None else start.to(torch.int64)[:, None] + steps[None, :]
    if node.get("mode", "linear") == "circular":
        at = torch.remainder(at, past.shape[axis])
    at = at.expand(past.shape[0], length)
    shape = [1] * past.ndim
    shape[0], shape[axis] = past.shape[0], length
    return torch.scatter(past, axis, at.reshape(shape).expand(update.shape), update)


@operator("OneHot", host=(1,))
def one_hot(node: Node, indices: Tensor, depth: Any, values: Tensor) -> Tensor:
    """Indices out of range give no one at all."""
    size = integer(depth)
    axis = node.get("axis", -1)
    axis = axis % (indices.ndim + 1)
    index = indices.to(torch.int64)
    index = torch.where(index < 0, index + size, index).unsqueeze(axis)
    shape = [1] * (indices.ndim + 1)
    shape[axis] = size
    hot = index == torch.arange(size, device=indices.device).reshape(shape)
    return torch.where(hot, values[1], values[0])


@operator("NonZero")
def non_zero(node: Node, x: Tensor) -> Tensor:
    return torch.nonzero(x).t()


@operator("Compress")
def compress(node: Node, x: Tensor, condition: Tensor) -> Tensor:
    axis = node.get("axis")
    if axis is None:
        x, axis = x.reshape(-1), 0
    kept = torch.nonzero(condition.to(torch.bool)).reshape(-1)
    return torch.index_select(x, axis, kept)


@operator("Unique")
def unique(node: Node, x: Tensor) -> Any:
    """Sorted, or in the order of first occurrence."""
    axis = node.get("axis")
    flat = x.reshape(-1) if axis is None else x
    dimension = 0 if axis is None else axis
    values, inverse, counts = torch.unique(flat, sorted=True, return_inverse=True, return_counts=True, dim=dimension)
    size = values.shape[dimension]
    positions = torch.arange(inverse.numel(), device=x.device)
    start = torch.full((size,), inverse.numel(), device=x.device)
    first = start.scatter_reduce(0, inverse.reshape(-1), positions, "amin")
    if not node.get("sorted", 1):
        order = torch.argsort(first)
        rank = torch.argsort(order)
        values, first, counts = values.index_select(dimension, order), first[order], counts[order]
        inverse = rank[inverse]
    return values, first, inverse.reshape(-1), counts


@operator("NonMaxSuppression", host=(2, 3, 4))
def non_max_suppression(
    node: Node, boxes: Tensor, scores: Tensor, most: Any = None, overlap: Any = None, lowest: Any = None
) -> Tensor:
    """Greedy, box by box; the count of the result depends on the data."""
    from assay.onnx_to_torch.values import scalar

    limit = 0 if most is None else integer(most)
    iou = 0.0 if overlap is None else float(scalar(overlap))
    corners = _corners(boxes, node.get("center_point_box", 0))
    selected = []
    for batch in range(scores.shape[0]):
        for label in range(scores.shape[1]):
            line = scores[batch, label]
            order = torch.sort(line, descending=True, stable=True).indices.tolist()
            kept: list[int] = []
            for box in order:
                if len(kept) >= limit:
                    break
                if lowest is not None and not float(line[box]) > float(scalar(lowest)):
                    continue
                if all(_overlap(corners[batch, box], corners[batch, other]) <= iou for other in kept):
                    kept.append(box)
            selected += [[batch, label, box] for box in kept]
    return torch.tensor(selected, dtype=torch.int64, device=boxes.device).reshape(-1, 3)


def _corners(boxes: Tensor, centred: int) -> Tensor:
    a, b, c, d = boxes.unbind(-1)
    if centred:
        return torch.stack([b - d / 2, a - c / 2, b + d / 2, a + c / 2], -1)
    return torch.stack([torch.minimum(a, c), torch.minimum(b, d), torch.maximum(a, c), torch.maximum(b, d)], -1)


def _overlap(tensor: Tensor, other: Tensor) -> float:
    height = torch.clamp(torch.minimum(tensor[2], other[2]) - torch.maximum(tensor[0], other[0]), min=0)
    width = torch.clamp(torch.minimum(tensor[3], other[3]) - torch.maximum(tensor[1], other[1]), min=0)
    common = height * width
    union = (tensor[2] - tensor[0]) * (tensor[3] - tensor[1]) + (other[2] - other[0]) * (other[3] - other[1]) - common
    return float(common / union) if float(union) > 0 else 0.0


@operator("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(node: Node, x: Tensor, indices: Tensor) -> Tensor:
    picked = torch.index_select(x, -1, indices.reshape(-1))
    return picked if x.ndim > 1 else picked.reshape(1, -1)


@operator("Binarizer", domain="ai.onnx.ml")
def binarizer(node: Node, x: Tensor) -> Tensor:
    return (x > node.get("threshold", 0.0)).to(x.dtype)


__all__ = ["gather", "ints"]
