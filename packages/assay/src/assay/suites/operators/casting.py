"""Types and constants: casting, filling, copying."""

from __future__ import annotations

from assay.suites.operators.declare import EVERY, NUMBERS, Operator

TABLE = (
    *(
        Operator(f"cast_to_{name}", f"x.to(torch.{name})", "20 | 5x10", "0 | scalar", EVERY, ("level",))
        for name in ("float32", "float16", "int64", "int32", "bool")
    ),
    # Negative numbers, which other sizes are drawn with, have no uint8.
    Operator(
        "cast_to_uint8",
        "x.to(torch.uint8)",
        "20 | 5x10",
        "0 | scalar",
        ("float32", "float16", "int64"),
        ("positive",),
        fixed=True,
    ),
    Operator("arange", "torch.arange(0, 10, 2, dtype=x.dtype) + x", "5 | 3x5", dtypes=NUMBERS),
    Operator(
        "full_like",
        "torch.full_like(x, value) + x",
        "5 | 3x5",
        "0 | scalar",
        NUMBERS,
        attributes=({"value": 3}, {"value": -1}),
    ),
    Operator("ones_zeros", "torch.ones_like(x) - torch.zeros_like(x) + x", "5 | 3x5", "0 | scalar", NUMBERS),
    Operator("clone", "torch.clone(x) + 0", "5 | 3x5", "0 | scalar", NUMBERS),
)
