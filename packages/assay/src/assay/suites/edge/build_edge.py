"""`python -m assay.suites.edge.build_edge INDEX`: the models and specified answers of the edge suite, once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.case import Case, Contract, Inputs, Tolerance
from assay.core.dtype import numpy_dtype
from assay.models.goldens import write_golden
from assay.models.model_precision import readable_coarse_types
from assay.models.onnx_file import open_model
from assay.suites.cache import write_index
from assay.suites.edge import tables
from assay.suites.edge.declare import Edge, Given, Node

IR_VERSION = 9
"""Old enough for every backend; opset 20 needs it."""


def main() -> None:
    index = Path(sys.argv[1])
    write_index(index, [_case(edge, index.parent / "cases" / edge.name) for edge in tables()])


def _case(edge: Edge, folder: Path) -> Case:
    folder.mkdir(parents=True, exist_ok=True)
    path = _saved(folder / "model.onnx", edge, edge.nodes)
    model = msgspec.structs.replace(open_model(path), name=edge.name)
    misuse = edge.misuse
    if misuse is not None and misuse.kind == "model":
        misuse = msgspec.structs.replace(misuse, model=_saved(folder / "wrong.onnx", edge, edge.wrong).name)
    write_golden(
        folder / "golden",
        model=model,
        inputs=[{name: array(values) for name, values in edge.inputs.items()}],
        outputs=[{name: array(values) for name, values in edge.outputs.items()}],
        seed=0,
        producer="specification",
        producer_version="",
        who=edge.source,
        reason="the answer is specified",
        created_at="",
        coarse=readable_coarse_types(path),
    )
    return Case(
        name=f"edge/{edge.name}",
        model=model,
        inputs=Inputs(golden=str(folder / "golden"), samples=1),
        contract=Contract(tolerances={"*": Tolerance(edge.relative, 0.0)}, published=True),
        misuse=misuse,
    )


def array(typed: Given) -> np.ndarray[Any, Any]:
    """The tensor of a line."""
    dtype, shape, values = typed
    with np.errstate(all="ignore"):
        flat = np.array(values, np.float64 if any(isinstance(value, float) for value in values) else None)
        numbers = flat.astype(numpy_dtype(dtype))
    size = int(np.prod(shape, dtype=np.int64))
    return np.resize(numbers, size).reshape(shape) if size else np.zeros(shape, numbers.dtype)


def _saved(path: Path, edge: Edge, nodes: tuple[Node, ...]) -> Path:
    from onnx import helper, numpy_helper

    # The constants of a wrong model are its own; those that nobody reads are no part of the right one.
    read = {name for node in nodes for name in node.inputs}
    graph = helper.make_graph(
        [_node(node) for node in nodes],
        edge.name,
        [_info(name, values, edge) for name, values in edge.inputs.items()],
        [_info(name, values, edge) for name, values in edge.outputs.items()],
        [numpy_helper.from_array(array(values), name) for name, values in edge.constants.items() if name in read],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", edge.opset)], ir_version=IR_VERSION)
    path.write_bytes(model.SerializeToString(deterministic=True))
    return path


def _info(name: str, values: Given, edge: Edge) -> Any:
    from onnx import helper

    shape = edge.declared.get(name, values[1])
    return helper.make_tensor_value_info(name, _type(values[0]), list(shape))


def _node(node: Node) -> Any:
    from onnx import helper

    attributes: dict[str, Any] = dict(node.attributes)
    if node.operator == "Cast":
        attributes["to"] = _type(str(attributes["to"]))
    if attributes.get("body") == "increment":
        attributes["body"] = _increment()
    return helper.make_node(node.operator, list(node.inputs), list(node.outputs), **attributes)


def _type(name: str) -> int:
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(numpy_dtype(name)))


def _increment() -> Any:
    """The body of a Loop that adds one, and never wants to end."""
    from onnx import TensorProto, helper, numpy_helper

    return helper.make_graph(
        [helper.make_node("Identity", ["going"], ["still"]), helper.make_node("Add", ["sum", "one"], ["more"])],
        "increment",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("going", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.FLOAT, [1]),
        ],
        [
            helper.make_tensor_value_info("still", TensorProto.BOOL, []),
            helper.make_tensor_value_info("more", TensorProto.FLOAT, [1]),
        ],
        [numpy_helper.from_array(np.ones(1, np.float32), "one")],
    )


if __name__ == "__main__":
    main()
