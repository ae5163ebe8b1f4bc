"""Two values in: arithmetic with broadcasting, comparison, logic, bits, selection."""

from __future__ import annotations

from assay.suites.operators.declare import BROADCAST, EVERY, FLOATS, NUMBERS, PAIRS, WHOLE, Operator

_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge")

TABLE = (
    *(Operator(name, f"torch.{name}(x, y)", PAIRS, BROADCAST, NUMBERS) for name in ("add", "sub", "mul")),
    Operator("add_alpha", "torch.add(x, y, alpha=alpha)", PAIRS, BROADCAST, attributes=({"alpha": 2}, {"alpha": -0.5})),
    Operator("div", "torch.div(x, y)", PAIRS, BROADCAST, kinds=("normal", "nonzero")),
    Operator(
        "div_rounded",
        "torch.div(x, y, rounding_mode=mode)",
        PAIRS,
        BROADCAST,
        NUMBERS,
        ("away", "nonzero"),
        attributes=({"mode": "floor"}, {"mode": "trunc"}),
    ),
    Operator("floor_divide", "torch.floor_divide(x, y)", PAIRS, BROADCAST, NUMBERS, ("away", "nonzero")),
    Operator("remainder", "torch.remainder(x, y)", PAIRS, BROADCAST, NUMBERS, ("away", "nonzero")),
    Operator("fmod", "torch.fmod(x, y)", PAIRS, BROADCAST, NUMBERS, ("away", "nonzero")),
    Operator("pow", "torch.pow(x, y)", PAIRS, BROADCAST, kinds=("positive", "normal")),
    Operator("maximum", "torch.maximum(x, y)", PAIRS, BROADCAST, NUMBERS),
    Operator("minimum", "torch.minimum(x, y)", PAIRS, BROADCAST, NUMBERS),
    Operator("atan2", "torch.atan2(x, y)", PAIRS, BROADCAST, FLOATS[:2], ("normal", "nonzero")),
    Operator("hypot", "torch.sqrt(x * x + y * y)", PAIRS, BROADCAST),
    *(Operator(name, f"torch.{name}(x, y)", PAIRS, BROADCAST, EVERY, ("level",)) for name in _COMPARED),
    *(
        Operator(f"logical_{name}", f"torch.logical_{name}(x, y)", PAIRS, BROADCAST, ("bool",))
        for name in ("and", "or", "xor")
    ),
    Operator("logical_not", "torch.logical_not(x)", edge="0 | scalar | 1 | 3x0x5", dtypes=("bool",)),
    *(
        Operator(f"bitwise_{name}", f"torch.bitwise_{name}(x, y)", PAIRS, BROADCAST, WHOLE)
        for name in ("and", "or", "xor")
    ),
    Operator("bitwise_not", "torch.bitwise_not(x)", edge="0 | scalar | 1 | 3x0x5", dtypes=WHOLE),
    Operator(
        "bitwise_left_shift",
        "torch.bitwise_left_shift(x, y)",
        PAIRS,
        "5x10 10 | scalar scalar",
        ("int64", "int32"),
        ("probability", "below:5"),
    ),
    Operator(
        "where",
        "torch.where(x, y, z)",
        "20 20 20 | 5x10 5x10 5x10 | 2x3x4x5 2x3x4x5 2x3x4x5",
        "5x10 10 scalar | 5x1 1x10 5x10 | 0 0 0 | scalar scalar scalar",
        NUMBERS,
        ("bool=normal", "normal", "normal"),
    ),
    Operator(
        "masked_fill",
        "torch.masked_fill(x, y, value)",
        "20 20 | 5x10 5x10 | 2x3x4x5 2x3x4x5",
        "5x10 10 | 5x10 5x1 | 0 0",
        NUMBERS,
        ("normal", "bool=normal"),
        attributes=({"value": 0}, {"value": -7}),
    ),
    Operator(
        "addcmul",
        "torch.addcmul(x, y, z, value=value)",
        "20 20 20 | 3x4x5 3x4x5 3x4x5",
        "5x10 10 1 | 0 0 0",
        attributes=({"value": 1.0}, {"value": -0.5}),
    ),
    Operator(
        "lerp",
        "torch.lerp(x, y, weight)",
        PAIRS,
        "5x10 10 | scalar scalar | 0 0",
        attributes=({"weight": 0.3}, {"weight": 0.9}),
    ),
)
