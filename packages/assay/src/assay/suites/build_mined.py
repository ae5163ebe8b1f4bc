"""`python -m assay.suites.build_mined INDEX SECONDS MODEL...`: take models apart into their unique operators, once. Each is named on
a line of the output before it is opened; where one takes more than SECONDS the kernel ends the process."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from assay.core.case import Case, Inputs
from assay.errors import Lowering, UsageError
from assay.models.conversion import convert_to
from assay.models.onnx_file import open_model
from assay.models.sources import check_source, is_factory, is_program
from assay.numerics.load_onnx import load_onnx
from assay.suites.cache import write_index
from assay.suites.mined_operators import BAD_INPUT, LEFT_OUT

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

SYMBOL = 3
"""What a symbolic dimension becomes: neither 1, which broadcasts, nor even."""
LARGEST = 64
"""Whole numbers of a constant that is told by its values (axes, sizes); a larger one is told by its shape, as weights are."""


_WHOLE = (2, 3, 4, 5, 6, 7, 9, 12, 13)
"""uint8 to int64, bool, uint32 and uint64, by the numbers of onnx.TensorProto."""


class _Unknown(Exception):
    """Why a node cannot stand alone."""


def main() -> None:
    index, seconds, paths = Path(sys.argv[1]), int(sys.argv[2]), [Path(word) for word in sys.argv[3:]]
    answers = os.dup(1)
    os.dup2(2, 1)  # what a factory or a library prints is no name of a model
    uses: Counter[str] = Counter()
    first: dict[str, tuple[str, ModelProto]] = {}
    left: Counter[str] = Counter()
    for path in paths:
        os.write(answers, f"{path}\n".encode())
        signal.alarm(seconds)
        model = _opened(path)
        for node in model.graph.node:
            if node.op_type == "Constant":
                continue
            try:
                name, alone = _alone(model, node)
            except _Unknown as error:
                left[f"{node.op_type}: {error}"] += 1
                continue
            digest = hashlib.sha256(name.encode()).hexdigest()[:8]
            uses[digest] += 1
            first.setdefault(digest, (f"{name.partition('|')[0]}-{digest}", alone))
    cases = [_case(*first[digest], count, index.parent) for digest, count in uses.most_common()]
    (index.parent / LEFT_OUT).write_text("".join(f"{count} x {why}\n" for why, count in left.most_common()))
    write_index(index, cases)


def _case(name: str, model: ModelProto, uses: int, folder: Path) -> Case:
    path = folder / "cases" / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString(deterministic=True))
    opened = open_model(path)
    return Case(f"mined/{name}-x{uses}", msgspec.structs.replace(opened, name=name), Inputs(samples=1), uses=uses)


def _opened(path: Path) -> ModelProto:
    """As ONNX, which a program or what a factory builds becomes by torch. Raises UsageError."""
    check_source(path)
    with tempfile.TemporaryDirectory(prefix="mined-") as folder:
        if is_factory(path) or is_program(path):
            try:
                path = convert_to(path, "onnx", Path(folder))
            except Lowering as error:
                raise UsageError(f"{path} cannot be mined: {' '.join(str(error).split())}") from error
        open_model(path)  # the checks of a third party's file, external data among them
        return _shaped(path)


def _shaped(path: Path) -> ModelProto:
    """With every symbol a number, and the shapes that follow."""
    import onnx

    try:
        model = load_onnx(path)
    except Lowering as error:
        raise UsageError(f"{path} cannot be mined: {error}") from error
    sizes: dict[str, int] = {}
    for value in model.graph.input:
        for place, dim in enumerate(value.type.tensor_type.shape.dim):
            if not dim.HasField("dim_value"):
                dim.dim_value = sizes.setdefault(dim.dim_param or f"{value.name}/{place}", SYMBOL)
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def _alone(model: ModelProto, node: NodeProto) -> tuple[str, ModelProto]:
    """What tells the node from others (readable before the first `|`), and the model that is nothing but it."""
    from onnx import AttributeProto, helper

    bodies = (AttributeProto.GRAPH, AttributeProto.GRAPHS)
    if any(attribute.type in bodies for attribute in node.attribute):
        raise _Unknown("it has a body of its own")
    weights = _constants(model)
    known = {info.name: info for info in (*model.graph.value_info, *model.graph.input, *model.graph.output)}
    reads = [name for name in dict.fromkeys(node.input) if name and name not in weights]
    inputs = [_info(known, name) for name in reads]
    outputs = [_info(known, name, shaped=False) for name in node.output if name]
    held = {name: weights[name] for name in dict.fromkeys(node.input) if name in weights}
    if not inputs:
        raise _Unknown("it computes a constant")
    # Names of values and of the node do not tell operators apart: their places do.
    short = {name: f"x{place}" for place, name in enumerate(dict.fromkeys(name for name in node.input if name))}
    short |= {name: f"y{place}" for place, name in enumerate(node.output) if name}
    again = helper.make_node(
        node.op_type, [short.get(name, "") for name in node.input], [short.get(name, "") for name in node.output],
        domain=node.domain,
    )  # fmt: skip
    again.attribute.extend(sorted(node.attribute, key=lambda attribute: attribute.name))
    for value in (*inputs, *outputs):
        value.name = short[value.name]
    tensors = [_renamed(tensor, short[name]) for name, tensor in held.items()]
    used = [entry for entry in model.opset_import if entry.domain == node.domain or entry.domain == ""]
    functions = [
        function for function in model.functions if (function.domain, function.name) == (node.domain, node.op_type)
    ]
    graph = helper.make_graph([again], node.op_type, inputs, outputs, tensors)
    alone = helper.make_model(graph, opset_imports=used, ir_version=model.ir_version, functions=functions)
    return "|".join(_described(again, inputs, tensors, used)), alone


def _described(node: NodeProto, inputs: list[Any], tensors: list[Any], used: list[Any]) -> Iterator[str]:
    shapes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in inputs]
    yield f"{node.op_type}-{'_'.join('x'.join(map(str, shape)) or 'scalar' for shape in shapes)}"
    yield node.SerializeToString(deterministic=True).hex()
    yield repr([(value.name, value.type.tensor_type.elem_type) for value in inputs])
    yield repr(sorted((entry.domain, entry.version) for entry in used))
    for tensor in tensors:
        yield f"{tensor.name} {tensor.data_type} {list(tensor.dims)}"
        size, whole = int(np.prod(tensor.dims, dtype=np.int64)), tensor.data_type in _WHOLE
        if size <= (LARGEST if whole else 1):
            yield tensor.SerializeToString(deterministic=True).hex()


def _constants(model: ModelProto) -> dict[str, Any]:
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    return constants


def _renamed(tensor: Any, name: str) -> Any:
    again = type(tensor)()
    again.CopyFrom(tensor)
    again.name, again.doc_string = name, ""
    return again


def _info(known: dict[str, Any], name: str, *, shaped: bool = True) -> Any:
    from onnx import helper

    value = known.get(name)
    kind = value.type.tensor_type if value is not None and value.type.HasField("tensor_type") else None
    if kind is None or not kind.elem_type:
        raise _Unknown("the type of what it reads or gives is not known")
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
    if shaped and (not kind.HasField("shape") or None in sizes):
        raise _Unknown("the shape of what it reads is not known")
    rank = [None] * len(sizes) if kind.HasField("shape") else None
    return helper.make_tensor_value_info(name, kind.elem_type, sizes if shaped else rank)


if __name__ == "__main__":
    try:
        main()
    except UsageError as error:
        sys.stderr.write(f"\n{error}")
        sys.exit(BAD_INPUT)
