"""NaN, infinities, signed zeros and subnormal numbers: what IEEE 754 and C (annex F) and ONNX say of each operator.

Where an answer is specified by nobody (the larger of NaN and 1, relu(NaN), the sign of relu(-0)) there is no line.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.suites.edge.declare import Edge, Given, Node, floats, ints, truths

C = "C annex F"
IEEE = "IEEE 754"
ONNX = "ONNX operator"

_INFINITE = {
    # operator: f(nan) f(inf) f(-inf)
    "Abs": "nan inf inf",
    "Neg": "nan -inf inf",
    "Ceil": "nan inf -inf",
    "Floor": "nan inf -inf",
    "Round": "nan inf -inf",
    "Identity": "nan inf -inf",
    "Exp": "nan inf 0",
    "Sqrt": "nan inf nan",
    "Log": "nan inf nan",
    "Reciprocal": "nan 0 -0",
    "Sin": "nan nan nan",
    "Cos": "nan nan nan",
    "Tan": "nan nan nan",
    "Asin": "nan nan nan",
    "Acos": "nan nan nan",
    "Atan": "nan 1.5707963267948966 -1.5707963267948966",
    "Sinh": "nan inf -inf",
    "Cosh": "nan inf inf",
    "Tanh": "nan 1 -1",
    "Asinh": "nan inf -inf",
    "Acosh": "nan inf nan",
    "Atanh": "nan nan nan",
    "Erf": "nan 1 -1",
    "Sigmoid": "nan 1 0",
    "Softplus": "nan inf 0",
    "Softsign": "nan nan nan",
    "Elu": "nan inf -1",
    "Selu": "nan inf -1.7580993408473766",
    "LeakyRelu": "nan inf -inf",
}
_EDGES = {
    # operator: inputs, outputs
    "Relu": ("inf -inf 2", "inf 0 2"),
    "HardSigmoid": ("inf -inf 0", "1 0 0.5"),
    "Log": ("0 -0 -1", "-inf -inf nan"),
    "Sqrt": ("-1 0 4", "nan 0 2"),
    "Exp": ("1000 -1000 0", "inf 0 1"),
    "Reciprocal": ("0 -0 2", "inf -inf 0.5"),
    "Asin": ("2 -2 1", "nan nan 1.5707963267948966"),
    "Acos": ("2 -2 1", "nan nan 0"),
    "Acosh": ("0.5 -1 1", "nan nan 0"),
    "Atanh": ("1 -1 2", "inf -inf nan"),
    "Cosh": ("1000 -1000 0", "inf inf 1"),
    "Sinh": ("1000 -1000 0", "inf -inf 0"),
    "Tanh": ("1000 -1000 0", "1 -1 0"),
    "Sigmoid": ("1000 -1000 0", "1 0 0.5"),
    "Softplus": ("1000 -1000 0", "1000 0 0.6931471805599453"),
    "Round": ("0.5 1.5 2.5 -0.5 -2.5", "0 2 2 -0 -2"),
}
_ODD = ("Neg", "Ceil", "Floor", "Round", "Identity", "Sqrt", "Sin", "Tan", "Asin", "Atan", "Sinh", "Tanh", "Asinh",
        "Atanh", "Erf", "Softsign")  # fmt: skip
"""f(0) = 0 and f(-0) = -0, but for Neg, which is the other way round."""
_SMALL = {
    # operator: f(1e-40) f(-1e-40), where the answer is no zero
    "Abs": "1e-40 1e-40",
    "Neg": "-1e-40 1e-40",
    "Identity": "1e-40 -1e-40",
    "Sin": "1e-40 -1e-40",
    "Tanh": "1e-40 -1e-40",
    "Atan": "1e-40 -1e-40",
    "LeakyRelu": "1e-40 -1e-42",
    "Softsign": "1e-40 -1e-40",
}
_PAIRS: tuple[tuple[str, str, str, str], ...] = (
    ("Add", "inf inf nan 1", "-inf inf 1 nan", "nan inf nan nan"),
    ("Sub", "inf inf nan", "inf -inf 1", "nan inf nan"),
    ("Mul", "0 inf -inf nan", "inf -inf -1 0", "nan -inf inf nan"),
    ("Div", "1 1 -1 0 inf 1 nan", "0 -0 0 0 inf inf 1", "inf -inf -inf nan nan 0 nan"),
    ("Pow", "0 nan 1 -1 -inf -8 2 2", "0 0 nan inf 3 0.5 inf -inf", "1 1 1 1 -inf nan inf 0"),
    ("Max", "inf -inf 1", "1 1 -inf", "inf 1 1"),
    ("Min", "inf -inf 1", "1 1 -inf", "1 -inf -inf"),
)
_COMPARED: tuple[tuple[str, str, str, str], ...] = (
    ("Equal", "nan inf 0 inf", "nan inf -0 -inf", "0 1 1 0"),
    ("Less", "nan 1 -inf 0", "1 nan inf -0", "0 0 1 0"),
    ("LessOrEqual", "nan 1 inf -0", "1 nan inf 0", "0 0 1 1"),
    ("Greater", "nan 1 inf 0", "1 nan -inf -0", "0 0 1 0"),
    ("GreaterOrEqual", "nan 1 inf 0", "1 nan inf -0", "0 0 1 1"),
)
_REDUCED: tuple[tuple[str, str, str, str], ...] = (
    ("ReduceSum", "clash", "inf -inf 1", "nan"),
    ("ReduceSum", "nan", "nan 1 2", "nan"),
    ("ReduceSum", "infinite", "inf 1 -3", "inf"),
    ("ReduceMean", "infinite", "1 -inf 2", "-inf"),
    ("ReduceProd", "clash", "inf 0 1", "nan"),
    ("ReduceMax", "lowest", "-inf -inf -inf", "-inf"),
    ("ReduceMax", "infinite", "1 inf -inf", "inf"),
    ("ReduceMin", "highest", "inf inf inf", "inf"),
    ("ReduceL1", "infinite", "1 -inf 2", "inf"),
    ("ReduceL2", "infinite", "1 -inf 2", "inf"),
    ("ReduceLogSumExp", "lowest", "-inf -inf -inf", "-inf"),
    ("ReduceLogSumExp", "large", "1000 1000", "1000.6931471805599"),
    ("ReduceLogSumExp", "infinite", "inf 1 2", "inf"),
)


def table() -> Iterator[Edge]:
    """Named `OPERATOR-what`."""
    for operator, answers in _INFINITE.items():
        yield _unary(operator, "nan-infinity", "nan inf -inf", answers, C)
    for operator, (given, answers) in _EDGES.items():
        yield _unary(operator, "domain", given, answers, C)
    for operator in _ODD:
        # The sign of a zero is seen through its reciprocal.
        answers = "-inf inf" if operator == "Neg" else "inf -inf"
        seen = (Node(operator, ("x",), ("zero",)), Node("Reciprocal", ("zero",)))
        yield Edge(f"{operator}-signed-zero", seen, {"x": floats("0 -0")}, {"y": floats(answers)}, C)
    for operator, answers in _SMALL.items():
        # Tens of units of so small a number are 1e-3 of it.
        nodes = (Node(operator, ("x",)),)
        yield Edge(
            f"{operator}-subnormal", nodes, {"x": floats("1e-40 -1e-40")}, {"y": floats(answers)}, IEEE, relative=1e-3
        )
    yield from _arithmetic()
    yield from _structured()


def _unary(operator: str, what: str, given: str, answer: str, source: str) -> Edge:
    return Edge(f"{operator}-{what}", (Node(operator, ("x",)),), {"x": floats(given)}, {"y": floats(answer)}, source)


def _pair(name: str, operator: str, x: Given, z: Given, y: Given, source: str, relative: float = 1e-5) -> Edge:
    return Edge(name, (Node(operator, ("x", "z")),), {"x": x, "z": z}, {"y": y}, source, relative=relative)


def _arithmetic() -> Iterator[Edge]:
    for operator, left, right, pair in _PAIRS:
        source = C if operator == "Pow" else IEEE
        yield _pair(f"{operator}-nan-infinity", operator, floats(left), floats(right), floats(pair), source)
    for operator, left, right, answers in _COMPARED:
        yield _pair(f"{operator}-nan-infinity", operator, floats(left), floats(right), truths(answers), IEEE)
    small = floats("1e-40 -1e-40")
    yield _pair("Mul-subnormal", "Mul", small, floats("1e30 1e30"), floats("1e-10 -1e-10"), IEEE, 1e-3)
    yield _pair("Div-subnormal", "Div", small, floats("1e-30 1e-30"), floats("1e-10 -1e-10"), IEEE, 1e-3)
    yield _pair("Add-subnormal", "Add", small, floats("2e-40 -2e-40"), floats("3e-40 -3e-40"), IEEE, 1e-3)
    yield _pair("Less-subnormal", "Less", floats("0 1e-40"), floats("1e-40 0"), truths("1 0"), IEEE)
    yield _pair("Equal-subnormal", "Equal", floats("0 1e-40"), floats("1e-40 1e-40"), truths("0 1"), IEEE)
    for operator, what, given, answer in _REDUCED:
        nodes = (Node(operator, ("x",), attributes={"keepdims": 0}),)
        yield Edge(f"{operator}-{what}", nodes, {"x": floats(given)}, {"y": floats(answer, ())}, IEEE)
    fmod = (Node("Mod", ("x", "z"), attributes={"fmod": 1}),)
    sides = {"x": floats("inf 1 nan 5"), "z": floats("1 inf 1 0")}
    yield Edge("Mod-nan-infinity", fmod, sides, {"y": floats("nan 1 nan nan")}, C)


def _structured() -> Iterator[Edge]:
    """Operators that combine elements: what must not leak, vanish or overflow on the way."""
    row = (1, 2)
    for name, operator, given, expected in (
        ("large", "Softmax", "1000 0", "1 0"),
        ("lowest", "Softmax", "-inf 0", "0 1"),
        ("nan", "Softmax", "nan 0", "nan nan"),
        ("large", "LogSoftmax", "1000 0", "0 -1000"),
        ("lowest", "LogSoftmax", "-inf 0", "-inf 0"),
    ):
        nodes = (Node(operator, ("x",), attributes={"axis": -1}),)
        yield Edge(f"{operator}-{name}", nodes, {"x": floats(given, row)}, {"y": floats(expected, row)}, ONNX)
    yield Edge(
        "Where-hidden-nan", (Node("Where", ("c", "x", "z")),),
        {"c": truths("1 0 1"), "x": floats("1 nan 3"), "z": floats("nan 2 inf")}, {"y": floats("1 2 3")}, ONNX,
    )  # fmt: skip
    zeros, odd = floats("0 0", (1, 2)), floats("nan 1 inf 2", (2, 2))
    yield _pair("MatMul-zero-times-nan", "MatMul", zeros, odd, floats("nan 0", (1, 2)), IEEE)
    image = floats("inf 1 1 1", (1, 1, 2, 2))
    kernel = {"w": floats("0", (1, 1, 1, 1))}
    conv = Node("Conv", ("x", "w"), attributes={"kernel_shape": [1, 1]})
    answer = floats("nan 0 0 0", (1, 1, 2, 2))
    yield Edge("Conv-zero-times-infinity", (conv,), {"x": image}, {"y": answer}, IEEE, constants=kernel)
    lowest = floats("-inf -inf -inf -inf", (1, 1, 2, 2))
    pool = Node("MaxPool", ("x",), attributes={"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})
    yield Edge("MaxPool-lowest-padded", (pool,), {"x": lowest}, {"y": lowest}, ONNX)
    negative = floats("-5 -6 -7 -8", (1, 1, 2, 2))
    yield Edge("MaxPool-negative-padded", (pool,), {"x": negative}, {"y": floats("-5 -5 -5 -5", (1, 1, 2, 2))}, ONNX)
    cumulated = Node("CumSum", ("x", "axis"))
    axis = {"axis": ints("0", shape=())}
    yield Edge(
        "CumSum-clash",
        (cumulated,),
        {"x": floats("1 inf -inf 1")},
        {"y": floats("1 inf nan nan")},
        IEEE,
        constants=axis,
    )
    yield Edge("IsNaN-all", (Node("IsNaN", ("x",)),), {"x": floats("nan inf -inf 0")}, {"y": truths("1 0 0 0")}, ONNX)
    yield Edge("IsInf-all", (Node("IsInf", ("x",)),), {"x": floats("nan inf -inf 0")}, {"y": truths("0 1 1 0")}, ONNX)
    yield Edge("ArgMax-ties", (Node("ArgMax", ("x",), attributes={"axis": 0, "keepdims": 0}),),
               {"x": floats("1 7 7 3")}, {"y": ints("1", shape=())}, ONNX)  # fmt: skip
    yield Edge("Clip-infinity", (Node("Clip", ("x", "low", "high")),), {"x": floats("inf -inf 0.5")},
               {"y": floats("1 -1 0.5")}, ONNX,
               constants={"low": floats("-1", ()), "high": floats("1", ())})  # fmt: skip
    yield Edge("Clip-nan", (Node("Clip", ("x", "low", "high")),), {"x": floats("nan -3 0.5")},
               {"y": floats("nan -1 0.5")}, "the function body of ONNX",
               constants={"low": floats("-1", ()), "high": floats("1", ())})  # fmt: skip
