"""What a table of operators says, and the cases that follow from a line of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import msgspec

from assay.suites.torch_case import Attribute, RandomArg, TorchCase

FLOATS = ("float32", "float16", "bfloat16", "float64")
NUMBERS = ("float32", "float16", "bfloat16", "float64", "int64", "int32")
WHOLE = ("int64", "int32", "int8", "uint8")
EVERY = (*NUMBERS, "int8", "uint8")

VECTORS = "20 | 5x10 | 3x4x5 | 2x3x4x5"
"""The shapes that the peer harness runs."""
EDGES = "0 | scalar | 1 | 17 | 1x1x1 | 3x0x5 | 7x13 | 1023 | 2x3x5x7x2 | 1x2x1x3x1x2"
"""Zero-size, 0-d, one, odd, prime, not a multiple of 16, rank 5 and 6."""
PAIRS = "20 20 | 5x10 5x10 | 2x3x4x5 2x3x4x5"
BATCHED = 2
"""Axes of an input whose first one is a batch."""
BROADCAST = "5x10 10 | 5x1 1x10 | 3x4x5 scalar | scalar scalar | 1 7 | 2x3x1x5 3x4x1 | 0x3 3 | 2x1x3x1x2 4x1x5x2"


@dataclass(frozen=True)
class Operator:
    """One line. `shapes` and `edge`: settings apart by `|`, the inputs of one setting by a blank (`5x10 scalar`).

    `kinds` is how each input is drawn (the last one holds for the rest), `TYPE=KIND` where an input has a type of its
    own whatever the case's (`int64=below:4`, `bool=normal`). `attributes` are settings of the names that `call` and
    `module` use; the first is the default. `fixed`: the expression holds for the first length of its inputs only.
    """

    name: str
    call: str
    shapes: str = VECTORS
    edge: str = ""
    dtypes: tuple[str, ...] = FLOATS
    kinds: tuple[str, ...] = ("normal",)
    module: str = ""
    attributes: tuple[Mapping[str, Attribute], ...] = field(default_factory=lambda: ({},))
    fixed: bool = False

    def cases(self) -> Iterator[TorchCase]:
        """smoke: the first shape and attributes in every type. sample: the other shapes in two types, the other
        attributes in two types. edge: the edge shapes in two types. dynamic: the first length left open, in the first type.
        strided and channels_last: the first shape (that has a picture in it), in the first type, fed with its memory in
        another order."""
        default, *others = self.attributes
        first, *more = _settings(self.shapes)
        for dtype in self.dtypes:
            yield self._case("smoke", dtype, first, default)
        for dtype, shapes in itertools.product(self.dtypes[:2], more):
            yield self._case("sample", dtype, shapes, default)
        for dtype, attributes in itertools.product(self.dtypes[:2], others):
            yield self._case("sample", dtype, first, attributes)
        for dtype, shapes in itertools.product(self.dtypes[:2], _settings(self.edge)):
            yield self._case("edge", dtype, shapes, default)
        yield from self._open(first, *more)
        pictures = [shapes for shapes in (first, *more) if any(len(shape) in (4, 5) for shape in shapes)]
        for layout, settings in (("strided", [first]), ("channels-last", pictures[:1])):
            for shapes in settings:
                torch_case = self._case(layout.replace("-", "_"), self.dtypes[0], shapes, default)
                yield msgspec.structs.replace(torch_case, layout=layout)

    def _open(self, *settings: Sequence[tuple[int, ...]]) -> Iterator[TorchCase]:
        """The first setting whose inputs have one length in common, the first: it is left open, and one artifact is run at
        its least, an odd and its largest. No case where values follow from lengths (indices), or there is no such setting."""
        if self.fixed or any("=" in kind or kind.startswith(("below", "permutation")) for kind in self.kinds):
            return
        alike = [
            setting
            for setting in settings
            if min(map(len, setting)) >= BATCHED and len({shape[0] for shape in setting}) == 1
        ]
        for shapes in alike[:1]:
            # Two at least: torch.export takes a length of 0 or 1 for a constant.
            batched = [(max(shape[0], 2), *shape[1:]) for shape in shapes]
            torch_case = self._case("dynamic", self.dtypes[0], batched, self.attributes[0])
            # At other lengths inputs are N(0, 1), whatever their kind: NaN and constants may be right.
            yield msgspec.structs.replace(torch_case, dynamic=True, published=True)

    def _case(
        self, tier: str, dtype: str, shapes: Sequence[tuple[int, ...]], attributes: Mapping[str, Attribute]
    ) -> TorchCase:
        inputs = tuple(self._input(place, dtype, shape) for place, shape in enumerate(shapes))
        parts = [self.name, dtype, tier, "_".join(_text(shape) for shape in shapes)]
        attributes_text = ",".join(f"{name}={_said(value)}" for name, value in attributes.items())
        tiny = max((prod(random_arg.shape) for random_arg in inputs), default=0) < 4
        return TorchCase(
            name=f"operators/{'-'.join([*parts, attributes_text] if attributes_text else parts)}",
            call=self.call,
            inputs=inputs,
            module=self.module,
            attributes=dict(attributes),
            dtype=dtype if dtype in FLOATS else "float32",
            published=tier == "edge" or tiny,
        )

    def _input(self, place: int, dtype: str, shape: tuple[int, ...]) -> RandomArg:
        kind = self.kinds[min(place, len(self.kinds) - 1)]
        own, separator, how = kind.partition("=")
        return RandomArg("xyzwvu"[place], own if separator else dtype, shape, how if separator else kind)


def _settings(text: str) -> list[tuple[tuple[int, ...], ...]]:
    return [tuple(_shape(word) for word in part.split()) for part in text.split("|") if part.strip()]


def _shape(word: str) -> tuple[int, ...]:
    return () if word == "scalar" else tuple(int(number) for number in word.split("x"))


def _text(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _said(value: Attribute) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
