"""Broken in its graph: what the ONNX specification forbids, or what no runtime should be asked to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from case import Break, broken, replace
from onnx import TensorProto, helper, numpy_helper

Edit = Callable[[onnx.ModelProto], None]


def _edited(edit: Edit) -> Break:
    """Damage that is done to the model alone."""

    def breaks(folder: Path) -> None:
        model = onnx.load(folder / "model.onnx")
        edit(model)
        (folder / "model.onnx").write_bytes(model.SerializeToString())

    return breaks


def graph(name: str, what: str, check: str) -> Callable[[Edit], Edit]:
    """Enter an edit of the model into the table."""

    def enter(edit: Edit) -> Edit:
        broken(name, what, check)(_edited(edit))
        return edit

    return enter


def _constant(model: onnx.ModelProto, name: str, value: object, dtype: type = np.int64) -> str:
    model.graph.initializer.append(numpy_helper.from_array(np.array(value, dtype), name))
    return name


@graph("unsorted-graph", "a node reads a tensor that a later node makes", "compliance.graph")
def _(model: onnx.ModelProto) -> None:
    nodes = list(model.graph.node)
    nodes[0], nodes[1] = nodes[1], nodes[0]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


@graph("duplicate-node-names", "two nodes have one name", "compliance.node")
def _(model: onnx.ModelProto) -> None:
    model.graph.node[3].name = model.graph.node[1].name


@graph("duplicate-tensor", "two nodes make one tensor", "compliance.graph")
def _(model: onnx.ModelProto) -> None:
    again = helper.make_node("Relu", [model.graph.node[0].output[0]], [model.graph.node[1].output[0]], name="again")
    model.graph.node.insert(2, again)


@graph("unproduced-output", "the graph promises an output that no node makes", "compliance.graph")
def _(model: onnx.ModelProto) -> None:
    model.graph.node[-1].output[0] = "not_logits"


@graph("nan-weights", "one weight is not a number", "compliance.graph")
def _(model: onnx.ModelProto) -> None:
    for at, tensor in enumerate(model.graph.initializer):
        if tensor.name == "5.weight":
            values = numpy_helper.to_array(tensor).copy()
            values.flat[7] = np.nan
            model.graph.initializer[at].CopyFrom(numpy_helper.from_array(values, tensor.name))


@graph("huge-allocation", "a ConstantOfShape of 4 TiB that no output needs", "compliance.node")
def _(model: onnx.ModelProto) -> None:
    shape = _constant(model, "huge_shape", [1 << 40])
    model.graph.node.extend(
        [
            helper.make_node("ConstantOfShape", [shape], ["huge"], name="huge"),
            helper.make_node("ReduceSum", ["huge"], ["huge_sum"], name="huge_sum", keepdims=0),
            helper.make_node("Add", ["logits", "huge_sum"], ["with_huge"], name="with_huge"),
        ]
    )
    _rename_output(model, "with_huge")


@graph("endless-loop", "a Loop of 2^62 trips", "compliance.node")
def _(model: onnx.ModelProto) -> None:
    trips, going = _constant(model, "trips", 1 << 62), _constant(model, "going", True, np.bool_)
    scalar = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go_in"], ["go_out"], name="go"),
            helper.make_node("Mul", ["carried_in", "one"], ["carried_out"], name="carry"),
        ],
        "forever",
        [
            scalar("trip", TensorProto.INT64, []), scalar("go_in", TensorProto.BOOL, []),
            scalar("carried_in", TensorProto.FLOAT, None),
        ],
        [scalar("go_out", TensorProto.BOOL, []), scalar("carried_out", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.float32(1), "one")],
    )  # fmt: skip
    loop = helper.make_node("Loop", [trips, going, "logits"], ["looped"], name="forever", body=body)
    model.graph.node.append(loop)
    _rename_output(model, "looped")


def _rename_output(model: onnx.ModelProto, name: str) -> None:
    """Let the tensor `name` be the graph's output "logits", as the metadata promises it."""
    for node in model.graph.node:
        for names in (node.input, node.output):
            for at, output_name in enumerate(names):
                if output_name in ("logits", name):
                    names[at] = "before_" + output_name if output_name == "logits" else "logits"


@broken("opset-too-new", "an opset that the zoo's runtimes do not read", "compliance.model")
def _(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    model.opset_import[0].version = 27
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    replace(folder / "metadata.toml", "opset = 17", "opset = 27")


@graph("ir-too-new", "an IR version that the zoo's runtimes do not read", "compliance.model")
def _(model: onnx.ModelProto) -> None:
    model.ir_version = 14


@graph("custom-domain", "an operator of a domain that nobody else has", "compliance.node")
def _(model: onnx.ModelProto) -> None:
    model.opset_import.append(helper.make_opsetid("com.example.secret", 1))
    model.graph.node[1].domain = "com.example.secret"


@graph("unknown-attribute", "an attribute that the operator does not have", "compliance.attribute")
def _(model: onnx.ModelProto) -> None:
    model.graph.node[1].attribute.append(helper.make_attribute("slope", 0.1))


@graph("unknown-operator", "an operator that ONNX does not have", "compliance.node")
def _(model: onnx.ModelProto) -> None:
    model.graph.node[1].op_type = "Rleu"


@graph("recursive-function", "a function that calls itself", "compliance.function")
def _(model: onnx.ModelProto) -> None:
    model.opset_import.append(helper.make_opsetid("local", 1))
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    again = helper.make_node("Again", ["x"], ["y"], domain="local", name="again")
    model.functions.append(helper.make_function("local", "Again", ["x"], ["y"], [again], imports))
    model.graph.node[1].op_type, model.graph.node[1].domain = "Again", "local"


@broken("declared-shape-wrong", "graph, metadata and readme say 11 logits, and there are 10", "compliance.graph")
def _(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 11
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    replace(folder / "metadata.toml", 'shape = ["batch", 10]', 'shape = ["batch", 11]')
    replace(folder / "README.md", "(batch, 10)", "(batch, 11)")


@graph("weights-too-short", "a weight with fewer bytes than its shape needs", "compliance.graph")
def _(model: onnx.ModelProto) -> None:
    tensor = next(initializer for initializer in model.graph.initializer if initializer.name == "5.weight")
    tensor.raw_data = tensor.raw_data[:-8]


@graph("index-out-of-range", "a Gather of the 100th of ten", "compliance.node")
def _(model: onnx.ModelProto) -> None:
    at = _constant(model, "at", [100])
    model.graph.node.append(helper.make_node("Gather", ["logits", at], ["picked"], name="picked", axis=1))
    total = helper.make_node("Add", ["logits", "picked"], ["with_picked"], name="with_picked")
    model.graph.node.append(total)
    _rename_output(model, "with_picked")
