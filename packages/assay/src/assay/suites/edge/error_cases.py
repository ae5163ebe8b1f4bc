"""Wrong uses of right models: what is no input of theirs, indices that point outside, sizes that no memory holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.core.error_case import ErrorCase
from assay.suites.edge.declare import Edge, Given, Node, floats, ints, truths

ONNX = "ONNX operator"
FAR = 2**62
_SIX = floats("1 -2 3 -4 5 -6", (2, 3))


def table() -> Iterator[Edge]:
    """Named `MODEL-misuse`."""
    for model in _MODELS:
        for misuse in _of_inputs(model):
            name = f"{model.name}-{misuse.kind}-{misuse.dtype or misuse.input or 'input'}"
            yield replace(model, name=name.rstrip("-"), misuse=misuse)
    yield from _indices()
    yield from _undefined()
    yield from _sizes()
    yield from _surroundings()
    yield from _models()


def _edge(name: str, operator: str, inputs: dict[str, Given], y: Given, **more: object) -> Edge:
    attributes = more.pop("attributes", {})
    nodes = (Node(operator, (*inputs, *more.get("constants", {})), attributes=attributes),)  # type: ignore[misc,arg-type]
    return Edge(name, nodes, inputs, {"y": y}, ONNX, **more)  # type: ignore[arg-type]


_IMAGE = floats("1 2 3 4 5 6 7 8 9", (1, 1, 3, 3))
_MODELS = (
    _edge("Relu", "Relu", {"x": _SIX}, floats("1 0 3 0 5 0", (2, 3))),
    _edge("Add", "Add", {"x": _SIX, "z": _SIX}, floats("2 -4 6 -8 10 -12", (2, 3))),
    _edge("MatMul", "MatMul", {"x": _SIX, "z": floats("1 2 3", (3, 1))}, floats("6 -12", (2, 1))),
    _edge("Softmax", "Softmax", {"x": floats("0 0 0 0", (2, 2))}, floats("0.5 0.5 0.5 0.5", (2, 2))),
    _edge("Conv", "Conv", {"x": _IMAGE}, floats("12 16 24 28", (1, 1, 2, 2)),
          constants={"w": floats("1", (1, 1, 2, 2))}, attributes={"kernel_shape": [2, 2]}),
    _edge("MaxPool", "MaxPool", {"x": _IMAGE}, floats("5 6 8 9", (1, 1, 2, 2)), attributes={"kernel_shape": [2, 2]}),
    _edge("Equal", "Equal", {"x": ints("1 2 3"), "z": ints("1 5 3")}, truths("1 0 1")),
    _edge("Gemm", "Gemm", {"x": _SIX}, floats("1 0 1 0", (2, 2)),
          constants={"w": floats("0", (3, 2)), "c": floats("1 0", (2,))}),
)  # fmt: skip


def _of_inputs(model: Edge) -> Iterator[ErrorCase]:
    first = next(iter(model.inputs))
    other = "float64" if model.inputs[first][0] != "float64" else "float32"
    for kind in ("rank", "shape", "empty", "missing", "extra"):
        yield ErrorCase(kind, input="" if kind == "extra" else first)
    for dtype in (other, "int32"):
        yield ErrorCase("dtype", input=first, dtype=dtype)


def _indices() -> Iterator[Edge]:
    """Of axes with three elements. "It is an error if any of the index values are out of bounds" (ONNX)."""
    index: Given = ints("0 2 1")
    models = (
        _edge("Gather", "Gather", {"x": floats("1 2 3"), "i": index}, floats("1 3 2"), attributes={"axis": 0}),
        _edge("GatherElements", "GatherElements", {"x": floats("1 2 3"), "i": index}, floats("1 3 2")),
        _edge("GatherND", "GatherND", {"x": floats("1 2 3"), "i": ints("0 2 1", shape=(3, 1))}, floats("1 3 2")),
        _edge("ScatterElements", "ScatterElements", {"x": floats("1 2 3"), "i": index, "u": floats("7 8 9")},
              floats("7 9 8")),
        _edge("ScatterND", "ScatterND", {"x": floats("1 2 3"), "i": ints("0 2 1", shape=(3, 1)), "u": floats("7 8 9")},
              floats("7 9 8")),
    )  # fmt: skip
    for model in models:
        for value, what in ((3, "one-past"), (-4, "one-before"), (FAR, "far")):
            yield replace(model, name=f"{model.name}-index-{what}", misuse=ErrorCase("value", input="i", value=value))


def _undefined() -> Iterator[Edge]:
    """Whole numbers divided by zero: nobody says what comes of it, but the process must live."""
    for operator, values in (("Div", "3 2 4"), ("Mod", "1 1 0")):
        for dtype in ("int32", "int64"):
            inputs = {"x": ints("7 5 8", dtype), "z": ints("2 2 2", dtype)}
            yield replace(
                _edge(f"{operator}-by-zero-{dtype}", operator, inputs, ints(values, dtype)),
                misuse=ErrorCase("value", "any", "z", 0),
            )
    for dtype, low in (("int32", -(2**31)), ("int64", -(2**63))):
        inputs = {"x": ints(f"{low} 8 6", dtype), "z": ints("2 2 2", dtype)}
        model = _edge(f"Div-lowest-by-minus-one-{dtype}", "Div", inputs, ints(f"{low // 2} 4 3", dtype))
        yield replace(model, misuse=ErrorCase("value", "any", "z", -1))


def _sizes() -> Iterator[Edge]:
    """What the model asks for depends on its input: once it is more than there is."""
    shape = ints("2 3")
    fill = Node("ConstantOfShape", ("x",))
    zeros: Given = ("float32", (2, 3), (0.0,))
    model = Edge("ConstantOfShape", (fill,), {"x": shape}, {"y": zeros}, ONNX, declared={"y": ("rows", "columns")})
    for value, what in ((2**23, "too-large"), (FAR, "overflow"), (-1, "negative")):
        yield replace(model, name=f"ConstantOfShape-{what}", misuse=ErrorCase("value", input="x", value=value))
    tile = Edge("Tile", (Node("Tile", ("x", "n")),), {"x": floats("1 2"), "n": ints("2")}, {"y": floats("1 2 1 2")},
                ONNX, declared={"y": ("many",)})  # fmt: skip
    for value, what in ((2**45, "too-large"), (-3, "negative")):
        yield replace(tile, name=f"Tile-{what}", misuse=ErrorCase("value", input="n", value=value))
    loop = Node("Loop", ("n", "", "x"), attributes={"body": "increment"})
    count = {"n": ints("5", shape=()), "x": floats("0")}
    yield Edge(
        "Loop-endless", (loop,), count, {"y": floats("5")}, ONNX,
        misuse=ErrorCase("value", "timeout", "n", 2**63 - 1, limit_s=15.0),
    )  # fmt: skip


def _surroundings() -> Iterator[Edge]:
    plain = _MODELS[2]
    yield replace(plain, name="threads-many", misuse=ErrorCase("threads", "right", value=100))
    yield replace(plain, name="threads-none", misuse=ErrorCase("threads", "right", value=0))
    yield replace(plain, name="threads-negative", misuse=ErrorCase("threads", "right", value=-3))
    yield replace(plain, name="cache-unwritable", misuse=ErrorCase("cache", "right"))
    yield replace(plain, name="disk-full", misuse=ErrorCase("disk", "right"))


def _models() -> Iterator[Edge]:
    """Models that contradict themselves: refused when lowered or when run, in either case before there is an answer."""
    right = _MODELS[0]
    wide = {"w": floats("1", (5, 7))}
    for name, nodes, constants in (
        ("unknown-operator", (Node("Nonsense", ("x",)),), {}),
        ("matmul-shapes", (Node("MatMul", ("x", "w")),), wide),
        ("undefined-input", (Node("Add", ("x", "nowhere")),), {}),
        ("cycle", (Node("Add", ("x", "b"), ("a",)), Node("Relu", ("a",), ("b",)), Node("Neg", ("b",))), {}),
        ("axis-outside", (Node("Softmax", ("x",), attributes={"axis": 9}),), {}),
        ("reshape-impossible", (Node("Reshape", ("x", "s")),), {"s": ints("4 4")}),
        ("twice-assigned", (Node("Relu", ("x",)), Node("Neg", ("x",))), {}),
        ("too-few-inputs", (Node("MatMul", ("x",)),), {}),
        ("types-differ", (Node("Add", ("x", "s")),), {"s": ints("1")}),
    ):
        yield replace(right, name=f"model-{name}", wrong=nodes, constants=constants, misuse=ErrorCase("model"))
