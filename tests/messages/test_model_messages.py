"""The whole sentence that a user reads for each bad model file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

from assay.errors import BadModel
from assay.models.onnx_file import open_model

node = helper.make_node
KEEP = "keep external data in a regular file of their own beside the model, and export or copy both again"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def graph(
    *nodes: onnx.NodeProto, initializers: tuple[TensorProto, ...] = (), opset: int = 21, ir: int = 10
) -> ModelProto:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 4])
    body = helper.make_graph(list(nodes), "g", [x], [y], list(initializers))
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def relu() -> ModelProto:
    return graph(node("Relu", ["x"], ["y"], name="relu"))


def sized(size: int) -> ModelProto:
    model = relu()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = size
    return model


def put(path: Path, model: ModelProto | bytes) -> None:
    path.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())


def external(**entries: str) -> ModelProto:
    weight = TensorProto(name="w", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        weight.external_data.add(key=key, value=value)
    return graph(node("Add", ["x", "w"], ["y"], name="add"), initializers=(weight,))


def external_at(**entries: str) -> Callable[[Path], None]:
    return lambda path: put(path, external(**entries))


def holding(model: ModelProto | bytes) -> Callable[[Path], None]:
    return lambda path: put(path, model)


def _symlink(path: Path) -> None:
    put(path, external(location="w.bin"))
    (path.parent / "real.bin").write_bytes(bytes(16))
    (path.parent / "w.bin").symlink_to("real.bin")


def _folder_symlink(path: Path) -> None:
    put(path, external(location="sub/w.bin"))
    (path.parent / "real").mkdir()
    (path.parent / "real" / "w.bin").write_bytes(bytes(16))
    (path.parent / "sub").symlink_to("real")


def _hard_link(path: Path) -> None:
    put(path, external(location="w.bin"))
    (path.parent / "real.bin").write_bytes(bytes(16))
    os.link(path.parent / "real.bin", path.parent / "w.bin")


def _weights(content: bytes, **entries: str) -> Callable[[Path], None]:
    def prepare(path: Path) -> None:
        put(path, external(location="w.bin", **entries))
        (path.parent / "w.bin").write_bytes(content)

    return prepare


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**31)


def _nested(depth: int) -> bytes:
    """A model whose graph lies in an attribute of a node of a graph, so many times: no library serializes as deep."""
    inner = b""
    for field in (6, 5, 1) * depth + (
        7,
    ):  # a message of a field: AttributeProto.g, NodeProto.attribute, GraphProto.node
        length = len(inner)
        inner = bytes([field << 3 | 2, length & 0x7F | 0x80, length >> 7]) + inner
    return inner


def _if_branch(name: str, value: str) -> onnx.GraphProto:
    out = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4])
    return helper.make_graph([node("Relu", [value], [name], name=f"in_{name}")], name, [], [out])


def _subgraph(value: str) -> ModelProto:
    condition = helper.make_tensor("c", TensorProto.BOOL, [], [True])
    branches = {"then_branch": _if_branch("a", value), "else_branch": _if_branch("b", "x")}
    return graph(
        node("If", ["c"], ["y"], name="if", **branches), node("Relu", ["x"], ["late"]), initializers=(condition,)
    )


ONNX = f"onnx {onnx.__version__}"
CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: None, "{m} does not exist; give the path of an ONNX file"),
    "misspelt": (
        lambda path: path.with_name(f"{path.stem}s.onnx").touch(),
        "{m} does not exist; perhaps you mean {s}s.onnx",
    ),
    "directory": (Path.mkdir, "{m} is a directory; give the ONNX file inside it"),
    "empty": (Path.touch, "{m} is empty (0 bytes); export or copy the model again"),
    "fifo": (os.mkfifo, "{m} is not a regular file; copy the model into one"),
    "pointer": (holding(POINTER), "{m} is a Git LFS pointer, not the model itself; run git lfs pull"),
    "too large": (
        _huge,
        "{m} has 2147483648 bytes, more than the 2 GiB of an ONNX file; save its weights as external data",
    ),
    "text": (
        holding(b"hello, world"),
        "{m} is not an ONNX model, or damaged: it is no protobuf at byte 2 of 12; export or copy the model again",
    ),
    "truncated": (
        holding(relu().SerializeToString()[:40]),
        "{m} is truncated or not ONNX: what begins at byte 2 goes on after its end (40 bytes); export or copy the model again",
    ),
    "nested": (
        holding(_nested(40)),
        "{m} nests graphs deeper than protobuf reads (100 messages) (363 bytes); export or copy the model again",
    ),
    "negative size": (
        holding(sized(-5)),
        "{m}: input 'x' has shape [-5, 4]: a size is 0 or more, and a name where any is taken; correct the shape",
    ),
    "no graph": (holding(ModelProto(ir_version=9)), "{m} has no graph (2 bytes); export or copy the model again"),
    "ir": (
        holding(graph(node("Relu", ["x"], ["y"]), ir=99)),
        f"{{m}}: IR version 99 is newer than {onnx.IR_VERSION}, the newest that {ONNX} knows; upgrade "
        f"onnx or export the model for an older version",
    ),
    "opset": (
        holding(graph(node("Relu", ["x"], ["y"]), opset=99)),
        f"{{m}}: domain 'ai.onnx' is imported at opset 99, newer than "
        f"{onnx.defs.onnx_opset_version()}, the newest that {ONNX} knows; upgrade onnx or export the model for an older version",
    ),
    "unsorted": (
        holding(graph(node("Relu", ["a"], ["y"], name="second"), node("Relu", ["x"], ["a"], name="first"))),
        "{m}: the model has an unsorted graph: node 'second' (Relu) comes before node 'first' (Relu), "
        "which computes its input 'a'; sort the nodes topologically",
    ),
    "unsorted for a subgraph": (
        holding(_subgraph("late")),
        "{m}: the model has an unsorted graph: node 'if' (If) comes before node number 1 (Relu), which "
        "computes its input 'late'; sort the nodes topologically",
    ),
    "cyclic": (
        holding(
            graph(
                node("Add", ["x", "b"], ["a"], name="p"),
                node("Relu", ["a"], ["b"], name="q"),
                node("Relu", ["b"], ["y"]),
            )
        ),
        "{m}: the model has a cyclic graph: node 'p' (Add) -> node 'q' (Relu) -> node 'p' (Add); cut the loop and export the model again",
    ),
    "undefined": (
        holding(graph(node("Add", ["x", "ghost"], ["y"], name="add"))),
        "{m}: the model uses a value that nobody defines: 'ghost' in node 'add' (Add); make it an "
        "input, an initializer or the output of a node",
    ),
    "undefined in a subgraph": (
        holding(_subgraph("ghost")),
        "{m}: the model uses a value that nobody defines: 'ghost' in node 'if' (If); make it an input, "
        "an initializer or the output of a node",
    ),
    "output": (
        holding(graph(node("Relu", ["x"], ["z"]))),
        "{m}: the model has an output that nobody computes: 'y'; remove it or add the node that computes it",
    ),
    "twice": (
        holding(graph(node("Relu", ["x"], ["y"], name="p"), node("Abs", ["x"], ["y"], name="q"))),
        "{m}: the model defines the value 'y' twice: by node 'p' (Relu) and by node 'q' (Abs); give each value its own name",
    ),
    "input again": (
        holding(graph(node("Relu", ["y"], ["x"], name="p"))),
        "{m}: the model defines the value 'x' twice: by an input or initializer and by node 'p' "
        "(Relu); give each value its own name (and 1 more finding)",
    ),
    "initializers": (
        holding(
            graph(node("Add", ["x", "w"], ["y"]), initializers=(onnx.numpy_helper.from_array(np.ones(4), "w"),) * 2)
        ),
        "{m}: the model has two initializers called 'w'; give each its own name",
    ),
    "operator": (
        holding(graph(node("Rellu", ["x"], ["y"], name="typo"))),
        "{m}: node 'typo' (Rellu): opset 21 has no operator Rellu; correct its name, its domain or the imported opset",
    ),
    "weights missing": (
        external_at(location="w.bin"),
        "{m}: the external data of initializer 'w' are missing: 'w.bin' (No such file or directory); " + KEEP,
    ),
    "weights nowhere": (external_at(offset="0"), "{m}: the external data of initializer 'w' name no file; " + KEEP),
    "weights above": (
        external_at(location="../w.bin"),
        "{m}: the external data of initializer 'w' lie at '../w.bin', outside the model's folder; " + KEEP,
    ),
    "weights absolute": (
        external_at(location="/etc/hostname"),
        "{m}: the external data of initializer 'w' lie at the absolute path '/etc/hostname'; " + KEEP,
    ),
    "weights symlink": (
        _symlink,
        "{m}: the external data of initializer 'w' lie at 'w.bin', which is a symlink or behind one; " + KEEP,
    ),
    "weights behind a symlink": (
        _folder_symlink,
        "{m}: the external data of initializer 'w' lie at 'sub/w.bin', which is a symlink or behind one; " + KEEP,
    ),
    "weights hard link": (
        _hard_link,
        "{m}: the external data of initializer 'w' lie at 'w.bin', a hard link that other paths share; " + KEEP,
    ),
    "weights truncated": (
        _weights(bytes(15)),
        "{m}: the external data of initializer 'w' are truncated: 'w.bin' has 15 bytes, 16 are needed; copy or export the file again",
    ),
    "weights behind the end": (
        _weights(bytes(16), offset="8", length="16"),
        "{m}: the external data of initializer 'w' are truncated: 'w.bin' has 16 bytes, 24 are needed; copy or export the file again",
    ),
    "weights length": (
        _weights(bytes(16), length="12"),
        "{m}: the external data of initializer 'w' are said to have 12 bytes, but its type and shape need 16; export the model again",
    ),
    "weights offset": (
        _weights(bytes(16), offset="-4"),
        "{m}: the external data of initializer 'w' have the offset -4, which is negative; export the model again",
    ),
    "weights offset word": (
        _weights(bytes(16), offset="four"),
        "{m}: the external data of initializer 'w' have the offset 'four', which is no whole number; export the model again",
    ),
    "weights pointer": (
        _weights(POINTER),
        "{m}: the external data of initializer 'w' lie at 'w.bin', which is a Git LFS pointer; run git lfs pull",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_bad_model_is_refused_with_this_sentence(name: str, tmp_path: Path) -> None:
    prepare, sentence = CASES[name]
    path = tmp_path / "model.onnx"
    prepare(path)
    with pytest.raises(BadModel) as caught:
        open_model(path)
    assert str(caught.value) == sentence.replace("{m}", str(path)).replace("{s}", str(path.with_suffix("")))
    assert caught.value.__cause__ is None, "no traceback of a library behind the sentence"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_model(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    put(path, relu())
    path.chmod(0)
    with pytest.raises(BadModel, match=r"cannot be read \(Permission denied\); give the path of a readable ONNX file$"):
        open_model(path)
