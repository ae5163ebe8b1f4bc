"""Whole numbers at their ends and sizes of zero: what ONNX says, and two's complement where it leaves it to the type."""

from __future__ import annotations

from collections.abc import Iterator

from assay.suites.edge.declare import Edge, Given, Node, floats, ints, truths

TWOS = "two's complement, as numpy and the evaluator of ONNX"
ONNX = "ONNX operator"
_ENDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def table() -> Iterator[Edge]:
    """Named `OPERATOR-what`."""
    yield from _overflow()
    yield from _casts()
    yield from _empty()


def _overflow() -> Iterator[Edge]:
    for dtype, (low, high) in _ENDS.items():
        pair = ints(f"{high} {low} 5", dtype), ints("1 -1 2", dtype)
        yield _two(f"Add-overflow-{dtype}", "Add", *pair, ints(f"{low} {high} 7", dtype), TWOS)
        yield _two(f"Sub-overflow-{dtype}", "Sub", ints(f"{low} {high} 5", dtype), ints("1 -1 2", dtype),
                   ints(f"{high} {low} 3", dtype), TWOS)  # fmt: skip
        yield _two(f"Mul-overflow-{dtype}", "Mul", ints(f"{high} {low} 5", dtype), ints("2 2 2", dtype),
                   ints("-2 0 10", dtype), TWOS)  # fmt: skip
        yield _two(f"Div-negative-{dtype}", "Div", ints("-7 7 -8", dtype), ints("2 -2 3", dtype),
                   ints("-3 -3 -2", dtype), ONNX)  # fmt: skip
        yield _two(f"Mod-negative-{dtype}", "Mod", ints("-7 7 -8", dtype), ints("3 -3 3", dtype),
                   ints("2 -2 1", dtype), ONNX)  # fmt: skip
        yield _two(f"Equal-ends-{dtype}", "Equal", ints(f"{high} {low} {high - 1}", dtype),
                   ints(f"{high - 1} {low} {high - 1}", dtype), truths("0 1 1"), ONNX)  # fmt: skip
        yield _two(f"Less-ends-{dtype}", "Less", ints(f"{high - 1} {low} {high}", dtype),
                   ints(f"{high} {low + 1} {high - 1}", dtype), truths("1 1 0"), ONNX)  # fmt: skip
        yield Edge(f"ReduceSum-overflow-{dtype}", (Node("ReduceSum", ("x",), attributes={"keepdims": 0}),),
                   {"x": ints(f"{high} 1", dtype)}, {"y": ints(f"{low}", dtype, ())}, TWOS)  # fmt: skip
        for operator in ("Abs", "Neg"):
            yield Edge(f"{operator}-overflow-{dtype}", (Node(operator, ("x",)),), {"x": ints(f"{low} -5 0", dtype)},
                       {"y": ints(f"{low} 5 0", dtype)}, TWOS)  # fmt: skip
    # Values with bit 31 set are no negative numbers in 64 bits.
    set_bit = ints("2638713002 5 2147483648")
    yield _two("Max-bit-31-int64", "Max", set_bit, ints("100 100 3"), ints("2638713002 100 2147483648"), ONNX)
    yield _two("Min-bit-31-int64", "Min", set_bit, ints("100 100 3"), ints("100 5 3"), ONNX)
    yield _two("MatMul-overflow-int32", "MatMul", ints(f"{2**31 - 1} 1", "int32", (1, 2)),
               ints("1 1", "int32", (2, 1)), ints(f"{-(2**31)}", "int32", (1, 1)), TWOS)  # fmt: skip
    yield Edge("BitShift-out-uint8", (Node("BitShift", ("x", "z"), attributes={"direction": "LEFT"}),),
               {"x": ints("200 1 255", "uint8"), "z": ints("1 7 4", "uint8")}, {"y": ints("144 128 240", "uint8")},
               ONNX)  # fmt: skip


def _casts() -> Iterator[Edge]:
    for name, given, to, answer in (
        ("int16-to-int8", ints("200 -200 300 5", "int16"), "int8", ints("-56 56 44 5", "int8")),
        ("int64-to-int32", ints("4294967297 -4294967298 7"), "int32", ints("1 -2 7", "int32")),
        ("int32-to-uint8", ints("-1 256 300", "int32"), "uint8", ints("255 0 44", "uint8")),
        ("float-to-half-overflow", floats("1e5 -1e5 2"), "float16", floats("inf -inf 2", dtype="float16")),
        ("double-to-float-overflow", floats("1e300 -1e300 2", dtype="float64"), "float32", floats("inf -inf 2")),
        ("nan-to-bool", floats("nan inf 0 -0"), "bool", truths("1 1 0 0")),
        ("truncates", floats("2.9 -2.9 -0.5"), "int32", ints("2 -2 0", "int32")),
    ):
        node = Node("Cast", ("x",), attributes={"to": to})
        yield Edge(f"Cast-{name}", (node,), {"x": given}, {"y": answer}, "the table of ONNX Cast")
    quantized = Node("QuantizeLinear", ("x", "scale", "zero"))
    for dtype, zero, steps in (("uint8", "128", "255 0 128 130 130"), ("int8", "0", "127 -128 0 2 2")):
        yield Edge(f"QuantizeLinear-saturates-{dtype}", (quantized,), {"x": floats("1e9 -1e9 0.5 1.5 2.5")},
                   {"y": ints(steps, dtype)}, ONNX,
                   constants={"scale": floats("1", ()), "zero": ints(zero, dtype, ())})  # fmt: skip


def _empty() -> Iterator[Edge]:
    """Dimensions of zero: an empty sum is 0, an empty product 1, and nothing is not an error."""
    nothing: Given = ("float32", (0, 3), ())
    for operator, value, opset in (("ReduceSum", 0, 18), ("ReduceProd", 1, 18), ("ReduceMax", float("-inf"), 20),
                                   ("ReduceMin", float("inf"), 20), ("ReduceL2", 0, 18), ("ReduceSumSquare", 0, 18)):  # fmt: skip
        node = Node(operator, ("x", "axes"), attributes={"keepdims": 0})
        yield Edge(f"{operator}-empty", (node,), {"x": nothing}, {"y": ("float32", (3,), (float(value),))}, ONNX,
                   constants={"axes": ints("0")}, opset=opset)  # fmt: skip
    yield _two("MatMul-empty-inner", "MatMul", ("float32", (2, 0), ()), nothing, ("float32", (2, 3), (0.0,)),
               "an empty sum is 0")  # fmt: skip
    yield _two("MatMul-empty-outer", "MatMul", ("float32", (0, 2), ()), floats("1 2 3 4 5 6", (2, 3)), nothing, ONNX)
    row = floats("1 2 3", (1, 3))
    yield _two("Add-empty", "Add", nothing, row, nothing, ONNX)
    for operator in ("Relu", "Softmax", "Exp", "Neg"):
        yield Edge(f"{operator}-empty", (Node(operator, ("x",)),), {"x": nothing}, {"y": nothing}, ONNX)
    concat = Node("Concat", ("x", "z"), attributes={"axis": 0})
    yield Edge("Concat-empty", (concat,), {"x": nothing, "z": row}, {"y": row}, ONNX)
    gather = Node("Gather", ("x", "i"), attributes={"axis": 0})
    yield Edge("Gather-empty-indices", (gather,), {"x": row, "i": ("int64", (0,), ())}, {"y": nothing}, ONNX)
    yield Edge("Transpose-empty", (Node("Transpose", ("x",), attributes={"perm": [1, 0]}),), {"x": nothing},
               {"y": ("float32", (3, 0), ())}, ONNX)  # fmt: skip
    yield Edge("Reshape-empty", (Node("Reshape", ("x", "s"), attributes={"allowzero": 1}),), {"x": nothing},
               {"y": ("float32", (3, 0, 2), ())}, ONNX, constants={"s": ints("3 0 2")})  # fmt: skip
    yield Edge("NonZero-none", (Node("NonZero", ("x",)),), {"x": floats("0 -0 0")}, {"y": ("int64", (1, 0), ())}, ONNX,
               declared={"y": (1, "found")})  # fmt: skip
    yield Edge("Shape-empty", (Node("Shape", ("x",)),), {"x": nothing}, {"y": ints("0 3")}, ONNX)
    batch: Given = ("float32", (0, 1, 4, 4), ())
    conv = Node("Conv", ("x", "w"), attributes={"kernel_shape": [3, 3]})
    yield Edge("Conv-empty-batch", (conv,), {"x": batch}, {"y": ("float32", (0, 2, 2, 2), ())}, ONNX,
               constants={"w": ("float32", (2, 1, 3, 3), (1.0,))})  # fmt: skip
    pool = Node("MaxPool", ("x",), attributes={"kernel_shape": [2, 2]})
    yield Edge("MaxPool-empty-batch", (pool,), {"x": batch}, {"y": ("float32", (0, 1, 3, 3), ())}, ONNX)
    top = Node("TopK", ("x", "k"), ("y", "i"))
    yield Edge("TopK-none", (top,), {"x": floats("1 2 3")}, {"y": ("float32", (0,), ()), "i": ("int64", (0,), ())}, ONNX,
               constants={"k": ints("0")})  # fmt: skip
    slices = Node("Slice", ("x", "from", "to"))
    yield Edge("Slice-nothing", (slices,), {"x": floats("1 2 3")}, {"y": ("float32", (0,), ())}, ONNX,
               constants={"from": ints("2"), "to": ints("1")})  # fmt: skip
    yield Edge("Slice-past-the-end", (slices,), {"x": floats("1 2 3")}, {"y": floats("2 3")}, ONNX,
               constants={"from": ints("1"), "to": ints("9223372036854775807")})  # fmt: skip


def _two(name: str, operator: str, x: Given, z: Given, y: Given, source: str) -> Edge:
    return Edge(name, (Node(operator, ("x", "z")),), {"x": x, "z": z}, {"y": y}, source)
