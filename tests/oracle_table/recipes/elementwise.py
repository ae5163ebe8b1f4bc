"""One element of the answer from one element of each input: ranks, broadcasting, types, numbers at the edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import TensorProto, defs, helper

from oracle_table.case import OpCase
from oracle_table.gen import Gen

SHAPES: tuple[tuple[int, ...], ...] = ((), (3,), (1,), (0,), (2, 3), (2, 1, 3), (2, 0, 3), (1, 2, 3, 2))
PAIRS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((2, 3), (2, 3)),
    ((2, 3), (3,)),
    ((2, 3), ()),
    ((), (3,)),
    ((2, 1), (1, 3)),
    ((3,), (2, 1, 3)),
    ((2, 0), (1, 1)),
    ((4, 1, 2), (3, 1)),
)
BOUNDS: dict[str, tuple[float, float]] = {
    "Acosh": (1, 4),
    "Acos": (-1, 1),
    "Asin": (-1, 1),
    "Atanh": (-0.9, 0.9),
    "Log": (0.1, 4),
    "Sqrt": (0, 4),
    "BitShift": (0, 5),
}
NONZERO = ("Div", "Mod", "Reciprocal")


def is_elementwise(schema: Any) -> bool:
    """Inputs and one output alike in shape, and only numbers as attributes: by the schema, and not by any list. Those with shapes of
    their own have recipes of their own, which come first."""
    kinds = {attribute.type for name, attribute in schema.attributes.items() if name != "consumed_inputs"} - {
        defs.OpSchema.AttrType.FLOAT
    }
    broadcast = {"axis", "broadcast", "consumed_inputs", "direction", "fmod", "approximate"}
    plain = not kinds or set(schema.attributes) <= broadcast or schema.name in ("IsInf", "Mod", "Cast")
    return plain and len(schema.outputs) == 1 and 1 <= schema.min_input <= 2


def elementwise(g: Gen) -> Iterator[OpCase]:
    bounds = BOUNDS.get(g.schema.name, (-3.0, 3.0))
    many = g.schema.max_input > 2
    for attributes in _attributes(g):
        for shape in SHAPES:
            if g.schema.min_input == 1:
                yield g.case(g.x(*shape, low=bounds[0], high=bounds[1]), **attributes)
            else:
                yield g.case(*_pair(g, shape, shape, g.first), **attributes)
    for dtype in g.some_dtypes():
        if g.schema.min_input == 1:
            yield g.case(g.x(2, 5, dtype=dtype, low=bounds[0], high=bounds[1]))
            if dtype.kind == "f":
                yield g.case(g.special(dtype))
        else:
            yield g.case(*_pair(g, (3, 4), (3, 4), dtype), **_attributes(g)[0])
            if dtype.kind == "f":
                yield g.case(*(grid.copy() for grid in np.meshgrid(g.special(dtype), g.special(dtype))))
    if g.schema.max_input > 1 and g.schema.name != "SwiGLU":
        yield from _broadcast(g)
    if many:
        for count in (1, 3, 4):
            for dtype in g.some_dtypes():
                yield g.case(*(g.x(2, 3, dtype=dtype) for _ in range(count)))


def _broadcast(g: Gen) -> Iterator[OpCase]:
    if g.has("broadcast"):
        for left, right, axis in (
            ((2, 3, 4), (4,), None),
            ((2, 3, 4), (3, 4), None),
            ((2, 3, 4), (3,), 1),
            ((2, 3, 4), (2,), 0),
        ):
            yield g.case(*_pair(g, left, right, g.first), broadcast=1, axis=axis)
        yield g.case(*_pair(g, (2, 3, 4), (), g.first), broadcast=1)
        yield g.case(*_pair(g, (2, 3, 4), (1,), g.first), broadcast=1)
        return
    if g.version < 7 or (g.schema.max_input > 2 and g.version < 8):
        return
    for left, right in PAIRS:
        for attributes in _attributes(g)[:1]:
            yield g.case(*_pair(g, left, right, g.first), **attributes)
            yield g.case(*_pair(g, right, left, g.first), **attributes)


def _pair(g: Gen, left: tuple[int, ...], right: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    name = g.schema.name
    second = g.dtypes(1)
    other = dtype if dtype in second or not second else second[0]
    low, high = BOUNDS.get(name, (-3.0, 3.0))
    if name == "Pow":
        return g.x(*left, dtype=dtype, low=0.2, high=3), g.x(*right, dtype=other, low=0, high=3)
    a, b = g.x(*left, dtype=dtype, low=low, high=high), g.x(*right, dtype=other, low=low, high=high)
    if name in NONZERO:
        b = np.where(b == 0, np.ones_like(b), b).astype(b.dtype).reshape(b.shape)
        a = np.asarray(a * 3, a.dtype) if dtype.kind != "b" else a
    return a, b


def _attributes(g: Gen) -> list[dict[str, Any]]:
    """All at their defaults, then each at values of its own."""
    choices: list[dict[str, Any]] = [{}]
    if g.schema.name == "Mod":
        return [{"fmod": 1 if g.first.kind == "f" else 0}]
    if g.schema.name == "BitShift":
        return [{"direction": "LEFT"}, {"direction": "RIGHT"}]
    for name, attribute in g.schema.attributes.items():
        if attribute.type == defs.OpSchema.AttrType.FLOAT:
            choices += [{name: 0.3}, {name: 1.7}]
        if name == "approximate":
            choices.append({name: "tanh"})
    if g.schema.name == "IsInf":
        choices += [{"detect_positive": 0}, {"detect_negative": 0}, {"detect_positive": 0, "detect_negative": 0}]
    return choices


def modulo(g: Gen) -> Iterator[OpCase]:
    """The sign of the divisor, or with fmod that of the dividend."""
    for dtype in g.some_dtypes():
        a, b = g.x(4, 5, dtype=dtype, low=-9, high=9), g.x(4, 5, dtype=dtype, low=-4, high=4)
        b = np.where(b == 0, 3, b).astype(dtype)
        if dtype.kind != "f":
            yield g.case(a, b)
        yield g.case(a, b, fmod=1)
        yield g.case(a, b[0], fmod=1)


def power(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        for other in g.some_dtypes(1) if g.version > 7 else [dtype]:
            low = 0 if other.kind == "f" else -3
            if dtype.kind != "f" and other.kind == "f":
                low = 0
            yield g.case(g.x(2, 3, dtype=dtype, low=low), g.x(2, 3, dtype=other, low=0, high=3))
    for left, right in PAIRS if g.version >= 7 else PAIRS[:1]:
        yield g.case(g.x(*left, low=0.1), g.x(*right))
    if g.has("broadcast"):
        yield g.case(g.x(2, 3, 4, low=0.1), g.x(3), broadcast=1, axis=1)
        yield g.case(g.x(2, 3, 4, low=0.1), g.x(4), broadcast=1)
    yield g.case(np.array([-2, -2, 0, 0, np.inf, 0.5], g.first), np.array([2, 3, 0, 2, -1, np.inf], g.first))


def clip(g: Gen) -> Iterator[OpCase]:
    for shape in SHAPES:
        if g.takes(2):
            low, high = np.array(-1, g.first), np.array(0.5, g.first)
            for bounds in ((low, high), (low, None), (None, high), (None, None)):
                yield g.case(g.x(*shape), *bounds)
        else:
            for attributes in ({}, {"min": -1.0}, {"max": 0.5}, {"min": -1.0, "max": 0.5}):
                yield g.case(g.x(*shape), **attributes)
    for dtype in g.some_dtypes():
        bounds = (np.array(1, dtype), np.array(2, dtype))
        yield (
            g.case(g.x(3, 4, dtype=dtype), *bounds) if g.takes(2) else g.case(g.x(3, 4, dtype=dtype), min=-0.5, max=1.0)
        )
    if g.takes(2):
        yield g.case(g.x(3, 4), np.array(1, g.first), np.array(-1, g.first))
    yield g.case(
        g.special(g.first), *((np.array(-1, g.first), np.array(1, g.first)) if g.takes(2) else ()), min=-1.0, max=1.0
    )


def cast(g: Gen) -> Iterator[OpCase]:
    """Every type into every type."""
    targets = [type_code for text in g.schema.outputs[0].types if (type_code := _code(text))]
    if g.version < 6:
        targets = []
        for name in ("FLOAT", "INT32", "BOOL", "INT64", "DOUBLE", "UINT8"):
            yield g.case(g.x(2, 3), to=name)
    numbers = np.array([0, 1, 2.5, 3.49, 100.7, 1.25, 7])
    for dtype in g.dtypes():
        for code in sorted(targets):
            if dtype.kind == "O":
                if code not in (TensorProto.BOOL,):
                    yield g.case(np.array(["1", "2", "-3" if code in (1, 11, 6, 7) else "3"], object), to=code)
                continue
            with np.errstate(all="ignore"):
                yield g.case(
                    np.clip(numbers, 0, 6).astype(dtype) if dtype.itemsize == 1 else numbers.astype(dtype), to=code
                )
    for code in (
        c for c in (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.BOOL, TensorProto.DOUBLE) if c in targets
    ):
        yield g.case(g.special(g.first), to=code)
    for code in (c for c in (17, 18, 19, 20) if c in targets):
        many = np.array([0.1, -0.1, 1e-9, 3.3, 447.0, 449.0, 1e6, -1e6, np.inf, np.nan], np.float32)
        yield g.case(many, to=code)
        yield g.case(many, to=code, saturate=0)
    if TensorProto.INT32 in targets:
        yield g.case(np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.999], np.float32), to=TensorProto.INT32)


def cast_like(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        for other in g.some_dtypes(1):
            if dtype.kind != "O":
                yield g.case(g.x(2, 3, dtype=dtype, low=0), np.full((1,), "" if other.kind == "O" else 0, other))


def bit_cast(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        for text in g.schema.outputs[0].types:
            code = _code(text)
            if code and helper.tensor_dtype_to_np_dtype(code).itemsize == dtype.itemsize and dtype.kind not in "Ob":
                yield g.case(g.x(2, 3, dtype=dtype), to=code)


def _code(text: str) -> int:
    return (
        int(TensorProto.DataType.Value(text[7:-1].upper()))
        if text.startswith("tensor(") and "complex" not in text
        else 0
    )


def where(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes(1):
        yield g.case(g.x(2, 3, dtype=bool), g.x(2, 3, dtype=dtype), g.x(2, 3, dtype=dtype))
    for c, a, b in (((3,), (2, 1), ()), ((2, 1, 1), (3,), (2, 3)), ((), (2,), (2,)), ((0,), (1,), (2, 1))):
        yield g.case(g.x(*c, dtype=bool), g.x(*a, dtype=np.float32), g.x(*b, dtype=np.float32))


def prelu(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, 4, dtype=dtype), g.x(1 if g.version < 7 else 4, dtype=dtype))
    slopes = [(1,), (3,)] if g.version < 7 else [(3, 1, 1), (1, 3, 1, 1), (2, 3, 2, 2), (1,), (2,), ()]
    for shape in slopes:
        yield g.case(g.x(2, 3, 2, 2), g.x(*shape))


def dropout(g: Gen) -> Iterator[OpCase]:
    for shape in SHAPES:
        for outputs in (1, 2):
            yield g.case(g.x(*shape), outputs=outputs, is_test=1)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, dtype=dtype), outputs=2, is_test=1)
    if g.takes(3):
        yield g.case(g.x(2, 3), np.array(0.4, np.float32), np.array(False), outputs=2)
        yield g.case(g.x(2, 3), np.array(0.0, np.float32), np.array(True), outputs=2)
    elif g.has("ratio"):
        yield g.case(g.x(2, 3), ratio=0.9, is_test=1)


ELEMENTWISE = {
    "Mod": modulo,
    "Pow": power,
    "Clip": clip,
    "Cast": cast,
    "CastLike": cast_like,
    "BitCast": bit_cast,
    "Where": where,
    "PRelu": prelu,
    "Dropout": dropout,
}
