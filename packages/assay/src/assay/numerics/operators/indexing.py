"""Elements taken from places, or put there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, behind
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, axis_of, equal, ints, plain
from assay.numerics.shapes.needed_values import INDEX, UNIQUE, Demands, Need, index_into, size_of
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Dims, Node, Value, of_data
from assay.numerics.tolerance.rules.rounding_rules import scatter


def gather_elements(call: Call) -> Values | None:
    """out[i][j] = data[indices[i][j]][j] along axis 0, and so on; of the other axes the first entries are read."""
    data, indices = call.inputs[:2]
    axis = int(call.attributes.get("axis", 0)) % max(1, data.ndim)
    if data.ndim != indices.ndim or indices.dtype.kind != "i":
        return None
    places = list(np.ogrid[tuple(slice(0, size) for size in indices.shape)])
    size = data.shape[axis]
    places[axis] = np.where(indices < 0, indices + size, indices)
    return (data[tuple(places)],)


def _gather_rows(operator: Operator) -> Values | None:
    if not operator.only(0):
        return None
    return (
        np.take(
            operator.inputs[0],
            np.asarray(operator.inputs[1]).astype(np.int64),
            behind(int(operator.attribute("axis", 0))),
        ),
    )


def _gather_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, places = inputs[0].shape, at(inputs, 1)
    if shape is None or places.shape is None:
        return [UNKNOWN]
    axis = axis_of(node.attributes.get("axis", 0), len(shape))
    size, indices = shape[axis], ints(places)
    if size is not None and indices and not all(-size <= place < size for place in indices):
        raise Conflict(
            ConstraintCode.INDEX_OUTSIDE,
            (size, max(indices) + 1),
            index=max(indices, key=abs),
            axis=axis,
            size=size,
        )
    if inputs[0].data is not None and places.data is not None:
        return [of_data(np.asarray(np.take(inputs[0].data, places.data.astype(np.int64), axis=axis)))]
    return plain((*shape[:axis], *places.shape, *shape[axis + 1 :]))


def _gather_elements_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    return plain(at(inputs, 1).shape)


def _gather_nd_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, places = inputs[0].shape, at(inputs, 1).shape
    if shape is None or not places or places[-1] is None:
        return [UNKNOWN]
    skipped = node.attributes.get("batch_dims", 0)
    return plain((*places[:-1], *shape[skipped + places[-1] :]))


def _scatter_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    given, due = at(inputs, 2).shape, _written(node, inputs)
    if given is not None and due is not None:
        equal(len(given), len(due), ConstraintCode.UPDATE_RANKS)
        for one, other in zip(given, due, strict=True):
            equal(one, other, ConstraintCode.UPDATE_SIZES)
    if (
        node.op == "ScatterND"
        and all(value.data is not None for value in inputs)
        and "reduction" not in node.attributes
    ):
        result = np.array(inputs[0].data)
        indices = inputs[1].data
        assert indices is not None
        for place in np.ndindex(indices.shape[:-1]):
            result[tuple(indices[place])] = inputs[2].data[place]  # type: ignore[index]
        return [of_data(result)]
    return plain(inputs[0].shape)


def _written(node: Node, inputs: Inputs) -> Dims | None:
    """The shape of the updates: engines read beyond those that are fewer."""
    shape, places = inputs[0].shape, at(inputs, 1).shape
    if node.op in ("Scatter", "ScatterElements"):
        return places
    if node.op != "ScatterND" or shape is None or not places or places[-1] is None:
        return None
    return (*places[:-1], *shape[places[-1] :])


def _gather_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, index_into(size_of(inputs, 0, node.attributes.get("axis", 0)))


def _scatter_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, index_into(size_of(inputs, 0, node.attributes.get("axis", 0)), UNIQUE)


def _several_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    skipped = node.attributes.get("batch_dims", 0)
    length = size_of(inputs, 1, -1)
    sizes = [size_of(inputs, 0, skipped + offset) for offset in range(length or 1)]
    known = [size for size in sizes if size is not None]
    yield 1, index_into(min(known) if len(known) == len(sizes) else None, INDEX if node.op == "GatherND" else UNIQUE)


def _written_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    axis = node.attributes.get("axis", -2)
    whole, part = size_of(inputs, 0, axis) or 1, size_of(inputs, 1, axis) or 1
    yield 2, Need(0, max(whole - part, 0), INDEX)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Gather",
        moves=True,
        order="joined",
        batched=_gather_rows,
        shape=_gather_shape,
        ranges=_gather_ranges,
        carries=first_input,
        free=True,
        mutations={"gather-off-by-one"},
    ),
    *alike(
        "GatherElements",
        moves=True,
        kernel=gather_elements,
        takes_halves=True,
        shape=_gather_elements_shape,
        ranges=_gather_ranges,
        carries=first_input,
        free=True,
        mutations={"gather-off-by-one"},
    ),
    *alike("GatherND", moves=True, shape=_gather_nd_shape, ranges=_several_ranges, carries=first_input, free=True),
    *alike("Scatter", moves=True, reference="old_opsets", shape=_scatter_shape, ranges=_scatter_ranges, free=True),
    *alike("ScatterElements", rounding=scatter, shape=_scatter_shape, ranges=_scatter_ranges, free=True),
    *alike("ScatterND", rounding=scatter, shape=_scatter_shape, ranges=_several_ranges, free=True),
    *alike("TensorScatter", moves=True, shape=_scatter_shape, ranges=_written_ranges),
)
