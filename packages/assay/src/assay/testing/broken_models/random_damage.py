"""Files made from good models by a seed: bits flipped, cut off, and fields changed as no exporter would. Some are still valid."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from onnx import AttributeProto, ModelProto, NodeProto, TensorProto

Surgery = Callable[[ModelProto, random.Random], None]
_SIZES = (-(2**63), -5, -1, 0, 1, 3, 7, 2**31, 2**40, 2**62)
_NAMES = ("", "x", "y", "w", "a" * 5000, "new\nline", "\x1b[31mred", "../up", "名前", "%s{0}")
_TYPES = (0, 1, 7, 8, 9, 10, 16, 22, 99, -1, 2**31 - 1)
_OPERATORS = (
    "Relu",
    "Add",
    "MatMul",
    "Reshape",
    "If",
    "Loop",
    "Nonsense",
    "",
    "Concat",
    "Cast",
    "Gather",
    "Conv",
    "Constant",
)


def bits_flipped(data: bytes, draw: random.Random) -> bytes:
    """One to eight of them."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 8)):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(data: bytes, draw: random.Random) -> bytes:
    """Somewhere, and now and then with zeros or noise after it."""
    end = b"" if draw.random() < 0.6 else draw.choice((bytes(64), draw.randbytes(64)))
    return data[: draw.randrange(1, len(data))] + end


def spliced(data: bytes, draw: random.Random) -> bytes:
    """A part of it once more, somewhere else."""
    start = draw.randrange(len(data))
    part = data[start : start + draw.randint(1, 200)]
    at = draw.randrange(len(data))
    return data[:at] + part + data[at:]


def operated(data: bytes, draw: random.Random) -> bytes:
    """One to three fields of the model changed."""
    model = ModelProto.FromString(data)
    for _ in range(draw.randint(1, 3)):
        draw.choice(SURGERIES)(model, draw)
    return bytes(model.SerializeToString())


def mutated(data: bytes, draw: random.Random) -> tuple[str, bytes]:
    """One of them, and its name: mostly fields, for they reach further than bits."""
    kind = draw.choices((operated, bits_flipped, cut, spliced), weights=(6, 2, 1, 1))[0]
    return kind.__name__, kind(data, draw)


def mutations(models: Sequence[Path], seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """`count` files: a name that says of which model, how and by which draw, and the bytes."""
    for number in range(count):
        draw = random.Random(seed * 1_000_003 + number)
        path = draw.choice(list(models))
        kind, data = mutated(path.read_bytes(), draw)
        yield f"{number:04}-{path.stem}-{kind}", data


def _opset(model: ModelProto, draw: random.Random) -> None:
    if model.opset_import:
        draw.choice(model.opset_import).version = draw.choice((-1, 0, 1, 5, 99, 2**31, 2**40))


def _import(model: ModelProto, draw: random.Random) -> None:
    if draw.random() < 0.5:
        del model.opset_import[:]
    else:
        model.opset_import.add(domain=draw.choice(("", "ai.onnx", "nowhere")), version=draw.choice((1, 13, 17)))


def _header(model: ModelProto, draw: random.Random) -> None:
    model.ir_version = draw.choice((-1, 0, 1, 3, 99, 2**62))


def _declared(model: ModelProto, draw: random.Random) -> None:
    value = draw.choice([*model.graph.input, *model.graph.output, *model.graph.value_info])
    kind = value.type.tensor_type
    what = draw.randrange(4)
    if what == 0:
        kind.elem_type = draw.choice(_TYPES)
    elif what == 1 and kind.shape.dim:
        draw.choice(kind.shape.dim).dim_value = draw.choice(_SIZES)
    elif what == 2:
        kind.shape.dim.add(dim_value=draw.choice(_SIZES))
    else:
        value.ClearField("type")


def _weight(model: ModelProto, draw: random.Random) -> None:
    if not model.graph.initializer:
        return
    tensor = draw.choice(model.graph.initializer)
    what = draw.randrange(6)
    if what == 0:
        tensor.data_type = draw.choice(_TYPES)
    elif what == 1:
        tensor.dims[:] = [draw.choice(_SIZES) for _ in range(draw.randrange(4))]
    elif what == 2:
        tensor.raw_data = tensor.raw_data[: draw.randrange(len(tensor.raw_data) + 1)]
    elif what == 3:
        tensor.raw_data += bytes(draw.randint(1, 9))
    elif what == 4:
        tensor.int32_data.extend([1, 2, 3])
    else:
        tensor.name = draw.choice(_NAMES)


def _external(model: ModelProto, draw: random.Random) -> None:
    if not model.graph.initializer:
        return
    tensor = draw.choice(model.graph.initializer)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    places = (
        "../outside/secret.bin",
        "/etc/hostname",
        "link.bin",
        "hard.bin",
        "pipe.bin",
        "",
        ".",
        "nowhere.bin",
        "w.bin",
        "model.onnx",
    )
    tensor.external_data.add(key="location", value=draw.choice(places))
    for key in ("offset", "length", "checksum"):
        if draw.random() < 0.4:
            tensor.external_data.add(
                key=key, value=draw.choice(("0", "-1", "8", "nine", "9" * 19, "9" * 40, "", "0" * 40))
            )


def _attribute(model: ModelProto, draw: random.Random) -> None:
    attributes = [attribute for node in _nodes(model) for attribute in node.attribute]
    if not attributes:
        return
    damaged = draw.choice(attributes)
    what = draw.randrange(6)
    if what == 0:
        damaged.i = draw.choice(_SIZES)
    elif what == 1:
        damaged.ints[:] = [draw.choice(_SIZES) for _ in range(draw.randrange(4))]
    elif what == 2:
        damaged.type = draw.choice(list(AttributeProto.AttributeType.values()))
    elif what == 3:
        damaged.name = draw.choice(_NAMES)
    elif what == 4:
        damaged.s = draw.choice((b"", b"SAME", b"\xff\xfe", b"linear"))
    else:
        damaged.f = draw.choice((float("nan"), float("inf"), -1.0, 0.0))


def _node(model: ModelProto, draw: random.Random) -> None:
    nodes = _nodes(model)
    if not nodes:
        return
    node = draw.choice(nodes)
    what = draw.randrange(7)
    if what == 0:
        node.op_type = draw.choice(_OPERATORS)
    elif what == 1:
        node.domain = draw.choice(("nowhere", "ai.onnx", "ai.onnx.ml", "com.microsoft"))
    elif what == 2 and node.input:
        node.input[draw.randrange(len(node.input))] = draw.choice((*_NAMES, *node.output))
    elif what == 3 and node.output:
        node.output[draw.randrange(len(node.output))] = draw.choice(_NAMES)
    elif what == 4:
        (node.input if draw.random() < 0.5 else node.output).append(draw.choice(_NAMES))
    elif what == 5:
        del node.attribute[:]
    else:
        node.name = draw.choice(_NAMES)


def _order(model: ModelProto, draw: random.Random) -> None:
    nodes = list(model.graph.node)
    what = draw.randrange(3)
    if what == 0:
        draw.shuffle(nodes)
    elif what == 1 and nodes:
        nodes.pop(draw.randrange(len(nodes)))
    elif nodes:
        nodes.append(draw.choice(nodes))
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _output(model: ModelProto, draw: random.Random) -> None:
    if draw.random() < 0.3:
        del model.graph.output[:]
    elif model.graph.output:
        draw.choice(model.graph.output).name = draw.choice(_NAMES)


def _constant(model: ModelProto, draw: random.Random) -> None:
    """The numbers of a small weight: shapes, axes, indices, scales."""
    from onnx import numpy_helper

    small = [initializer for initializer in model.graph.initializer if 0 < len(initializer.raw_data) <= 64]
    if small:
        tensor = draw.choice(small)
        try:
            array: Any = numpy_helper.to_array(tensor).copy()
            array.reshape(-1)[draw.randrange(array.size)] = draw.choice((0, -1, 1, 100))
        except (ValueError, TypeError, OverflowError):
            return
        tensor.raw_data = array.tobytes()


def _function(model: ModelProto, draw: random.Random) -> None:
    function = model.functions.add(name=draw.choice(("F", "Relu", "")), domain=draw.choice(("own", "", "nowhere")))
    function.input.append("a")
    function.output.append("b")
    function.opset_import.add(domain="", version=17)
    function.node.add(
        op_type=draw.choice(("Relu", "F", "Nonsense")), input=["a"], output=["b"], domain=draw.choice(("", "own"))
    )
    if draw.random() < 0.5 and model.graph.node:
        node = draw.choice(model.graph.node)
        node.op_type, node.domain = function.name, function.domain


def _nodes(model: ModelProto) -> list[NodeProto]:
    """Those of subgraphs and functions, too."""
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                nodes += attribute.g.node
    return nodes


SURGERIES: tuple[Surgery, ...] = (
    _opset, _import, _header, _declared, _declared, _weight, _weight, _external, _attribute, _attribute, _node, _node, _order,
    _output, _constant, _function,
)  # fmt: skip
