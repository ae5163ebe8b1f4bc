"""The sizes of dynamic dimensions that an engine is verified at, besides those of its samples."""

from __future__ import annotations

from collections.abc import Mapping

Sizes = dict[str, int]


def points(dims: Mapping[str, tuple[int, int, int]]) -> list[Sizes]:
    """All dimensions at their least, at an odd size in the middle, and at their most; a point that comes twice is one."""
    places = [
        {name: least for name, (least, _, _) in dims.items()},
        {name: odd_between(least, most) for name, (least, _, most) in dims.items()},
        {name: most for name, (_, _, most) in dims.items()},
    ]
    return [place for index, place in enumerate(places) if place and place not in places[:index]]


def odd_between(least: int, most: int) -> int:
    """An odd number near the middle, inside both bounds where there is one: kernels are tuned for even sizes."""
    middle = (least + most) // 2
    if middle % 2:
        return middle
    return next((one for one in (middle + 1, middle - 1) if least <= one <= most), middle)


def told(sizes: Sizes) -> str:
    """`batch=7, length=33`."""
    return ", ".join(f"{name}={size}" for name, size in sizes.items())
