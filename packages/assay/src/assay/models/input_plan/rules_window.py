"""Operators that slide a window: convolutions and pools, and those that reduce all positions."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from assay.models.input_plan.graph import UNKNOWN, Dims, Node, Value, product
from assay.models.input_plan.shape_engine import Evaluation
from assay.models.input_plan.shape_rules import Conflict, Inputs, at, equal, ints, plain, rule


def _weight(node: Node) -> int:
    return 3 if node.op.startswith("QLinear") else 1


@rule("Conv", "ConvInteger", "QLinearConv", "FusedConv", "NhwcConv", "NhwcFusedConv")
def _conv(node: Node, inputs: Inputs, scope: Evaluation) -> Sequence[Value]:
    shape, weight = inputs[0].shape, at(inputs, _weight(node)).shape
    if shape is None or weight is None:
        return [UNKNOWN]
    last = node.attributes.get("channels_last") or node.op.startswith("Nhwc")
    channels, spatial = (shape[-1], shape[1:-1]) if last else (shape[1], shape[2:])
    equal(len(shape), len(weight), "the ranks of the input and of the weight")
    wanted = None if weight[1] is None else weight[1] * node.attributes.get("group", 1)
    if channels is not None and wanted is not None and channels != wanted:
        raise Conflict(f"the input has {channels} channels, the weight takes {wanted}", (channels, wanted))
    kernel = node.attributes.get("kernel_shape") or list(weight[2:])
    found = _slide(node, spatial, kernel, scope)
    return plain((shape[0], *found, weight[0]) if last else (shape[0], weight[0], *found))


@rule("MaxPool", "AveragePool", "LpPool", "QLinearAveragePool")
def _pool(node: Node, inputs: Inputs, scope: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN] * len(node.outputs)
    found = _slide(node, shape[2:], node.attributes["kernel_shape"], scope)
    return [Value((*shape[:2], *found))] * max(1, len(node.outputs))


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "QLinearGlobalAveragePool")
def _global(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is not None and 0 in shape[2:]:
        raise Conflict(f"a pool over the empty positions of {list(shape)}")
    return plain(None if shape is None else (*shape[:2], *(1 for _ in shape[2:])))


def _slide(node: Node, spatial: Dims, kernel: Sequence[int | None], scope: Evaluation) -> list[int | None]:
    rank = len(spatial)
    strides = node.attributes.get("strides") or [1] * rank
    dilations = node.attributes.get("dilations") or [1] * rank
    pads = node.attributes.get("pads") or [0] * (2 * rank)
    auto = node.attributes.get("auto_pad", "NOTSET")
    up = node.attributes.get("ceil_mode", 0)
    dims: list[int | None] = []
    for axis, size in enumerate(spatial):
        window = kernel[axis]
        if size is None or window is None:
            dims.append(None)
            continue
        scope.narrow += window > 1 and size < window
        if auto.startswith("SAME"):
            dims.append(ceil(size / strides[axis]))
            continue
        padding = 0 if auto == "VALID" else pads[axis] + pads[axis + rank]
        reach = (window - 1) * dilations[axis] + 1
        steps = (size + padding - reach) / strides[axis]
        dims.append((ceil(steps) if up else floor(steps)) + 1)
        if size + padding < reach:
            text = f"a window of {reach} does not fit into {size} elements padded by {padding}"
            raise Conflict(text, (size, reach - padding))
    return dims


@rule("ConvTranspose")
def _transposed(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, weight = inputs[0].shape, at(inputs, 1).shape
    if shape is None or weight is None:
        return [UNKNOWN]
    if shape[1] is not None and weight[0] is not None and shape[1] != weight[0]:
        raise Conflict(f"the input has {shape[1]} channels, the weight takes {weight[0]}", (shape[1], weight[0]))
    rank = len(shape) - 2
    given = node.attributes
    strides, dilations = given.get("strides") or [1] * rank, given.get("dilations") or [1] * rank
    pads, more = given.get("pads") or [0] * (2 * rank), given.get("output_padding") or [0] * rank
    kernel = given.get("kernel_shape") or list(weight[2:])
    channels = None if weight[1] is None else weight[1] * given.get("group", 1)
    dims: list[int | None] = []
    for axis in range(rank):
        size = shape[axis + 2]
        if "output_shape" in given:
            dims.append(given["output_shape"][-rank:][axis])
        elif size is None or kernel[axis] is None:
            dims.append(None)
        elif given.get("auto_pad", "NOTSET").startswith("SAME"):
            dims.append(size * strides[axis])
        else:
            reach = (kernel[axis] - 1) * dilations[axis] + 1
            dims.append(strides[axis] * (size - 1) + more[axis] + reach - pads[axis] - pads[axis + rank])
    return plain((shape[0], channels, *dims))


@rule("GridSample")
def _grid(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, grid = inputs[0].shape, at(inputs, 1).shape
    if shape is None or grid is None:
        return [UNKNOWN]
    equal(shape[0], grid[0], "the batch sizes of the input and of the grid")
    return plain((*shape[:2], *grid[1:-1]))


@rule("RoiAlign", "MaxRoiPool")
def _regions(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, regions = inputs[0].shape, at(inputs, 1).shape
    if shape is None or regions is None:
        return [UNKNOWN]
    if node.op == "MaxRoiPool":
        return plain((regions[0], shape[1], *node.attributes["pooled_shape"]))
    batches = at(inputs, 2).shape
    if batches:
        equal(regions[0], batches[0], "the numbers of regions and of their batch indices")
    return plain(
        (regions[0], shape[1], node.attributes.get("output_height", 1), node.attributes.get("output_width", 1))
    )


@rule("NonMaxSuppression")
def _suppression(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    boxes, scores = inputs[0].shape, at(inputs, 1).shape
    if boxes is not None and scores is not None:
        equal(boxes[0], scores[0], "the batch sizes of boxes and scores")
        equal(boxes[1], scores[2], "the numbers of boxes and of scores")
        equal(boxes[2], 4, "the sides of a box and 4")
    return plain((None, 3))


@rule("MaxUnpool")
def _unpool(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, given = inputs[0].shape, ints(at(inputs, 2))
    if given:
        return plain(tuple(given))
    return plain(None if shape is None else (*shape[:2], *(None for _ in shape[2:])))


@rule("Col2Im")
def _columns(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, image, block = inputs[0].shape, ints(at(inputs, 1)), ints(at(inputs, 2))
    if shape is None or image is None or block is None or shape[1] is None:
        return [UNKNOWN]
    count = product(block) or 1
    if shape[1] % count:
        raise Conflict(f"{shape[1]} rows are no multiple of the {count} elements of a block", (shape[1], count))
    return plain((shape[0], shape[1] // count, *image))


@rule("CenterCropPad")
def _cropped(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, sizes = inputs[0].shape, ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    axes = node.attributes.get("axes") or range(len(shape))
    dims: list[int | None] = list(shape)
    for place, axis in enumerate(axes):
        dims[axis] = None if sizes is None else sizes[place]
    return plain(tuple(dims))
