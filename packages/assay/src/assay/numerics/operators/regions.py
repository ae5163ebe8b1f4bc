"""Regions of a picture that are sampled or pooled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.shapes.constraints import Inputs, Walk, at, equal, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need, index_into, size_of
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import EXACT, RuleSite, Variance, text_of
from assay.numerics.tolerance.rules.window_filters import largest, smallest


def regional(site: RuleSite, unit: Arithmetic) -> Variance:
    """RoiAlign and CropAndResize: samples of a region of the picture, whose places slide along the local slope, and their mean."""
    x, rest = site.call.inputs[0], site.call.inputs[1:]
    attributes = site.call.attributes
    if text_of(attributes.get("mode", "")) == "nearest":
        return EXACT
    window = [1, 1, 3, 3]
    slope = largest(x, window) - smallest(x, window)
    # Places are computed in several steps from corners and their distance.
    width = 4.0 * max(x.shape[2:])
    steepness = np.abs(site.again(slope, *rest)[0])
    squares = np.abs(site.again(np.square(x), *rest)[0])
    terms = 4.0 * _samples(site) + 4.0
    slid = np.square(unit.accumulate * width * steepness) / 3
    return slid + (unit.accumulate**2 * terms / 6 + unit.storage**2 / 3) * squares


def _samples(site: RuleSite) -> float:
    """Of one cell: as many as the cell is large where the model does not say."""
    attributes = site.call.attributes
    if "output_height" not in attributes:
        return 1.0
    ratio = float(stated(attributes, "sampling_ratio", 0))
    if ratio > 0:
        return ratio**2
    tall, wide = (float(stated(attributes, name, 1)) for name in ("output_height", "output_width"))
    regions = np.asarray(site.call.inputs[1], np.float64) * float(stated(attributes, "spatial_scale", 1.0))
    sides = np.abs(regions[:, 2:4] - regions[:, :2]).max(initial=1.0)
    return float(np.ceil(sides / tall) * np.ceil(sides / wide))


def _regions_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, regions = inputs[0].shape, at(inputs, 1).shape
    if shape is None or regions is None:
        return [UNKNOWN]
    if node.op == "MaxRoiPool":
        return plain((regions[0], shape[1], *node.attributes["pooled_shape"]))
    batches = at(inputs, 2).shape
    if batches:
        equal(regions[0], batches[0], ConstraintCode.REGION_BATCHES)
    return plain(
        (regions[0], shape[1], node.attributes.get("output_height", 1), node.attributes.get("output_width", 1))
    )


def _regions_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    scale = stated(node.attributes, "spatial_scale", 1.0)
    yield 1, Need(0.0, max((size_of(inputs, 0, -1) or 2) - 1, 1) / scale)
    yield 2, index_into(size_of(inputs, 0, 0))


def _crops_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(0.0, 1.0)
    yield 2, index_into(size_of(inputs, 0, 0))
    yield 3, Need(2, 8, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("RoiAlign", rounding=regional, reference="old_opsets", shape=_regions_shape, ranges=_regions_ranges),
    *alike("MaxRoiPool", moves=True, reference="region_ops", shape=_regions_shape, ranges=_regions_ranges),
    *alike("CropAndResize", domain=MICROSOFT, rounding=regional, reference="contrib.computed", ranges=_crops_ranges),
)
