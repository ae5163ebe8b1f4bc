"""The sizes of dynamic dimensions that an engine is verified at, besides those of its samples."""

from __future__ import annotations

from assay.core.case import Inputs

Sizes = dict[str, int]


def shape_points(inputs: Inputs) -> list[Sizes]:
    """The least, the usual and the largest size of all dimensions together, or the first, second ... of those that are listed;
    a dimension with fewer sizes than others stays at its last. A point that comes twice is one."""
    listed = {name: inputs.sizes.get(name, sizes) for name, sizes in inputs.dims.items()}
    longest = max(map(len, listed.values()), default=0)
    places = [{name: sizes[min(place, len(sizes) - 1)] for name, sizes in listed.items()} for place in range(longest)]
    return [place for index, place in enumerate(places) if place not in places[:index]]


def format_shapes(sizes: Sizes) -> str:
    """`batch=7, length=33`."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())
