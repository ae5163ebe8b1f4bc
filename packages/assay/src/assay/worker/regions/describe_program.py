"""The code that makes a small exported program from nothing but torch and numpy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import HarnessError
from assay.models.program import Program, open_program
from assay.ports import Tensor
from assay.worker.regions.describe_region import array_code

CODE = "program.py"


def save_program_code(folder: Path, program: Path, feeds: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> None:
    """Beside what `save_region` wrote; nothing where the program is more than one plain graph."""
    code = program_code(open_program(program), feeds, outputs)
    if code:
        (folder / CODE).write_text(code)


def program_code(program: Program, feeds: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> str:
    """Python that gives `model`, `inputs` and `expected`; "" for a program with bodies, with state that it changes, or whose weights numpy
    cannot hold."""
    from assay.onnx_to_torch.dtypes import to_numpy

    exported = program.exported
    signature = exported.graph_signature
    if signature.buffers_to_mutate or any(_is_more(node) for node in exported.graph.nodes):
        return ""
    stored = {**exported.state_dict, **exported.constants}
    weights = {
        spec.arg.name: stored[spec.target]
        for spec in signature.input_specs
        if spec.target is not None and spec.target in stored
    }
    try:
        held = {name: array_code(to_numpy(value)) for name, value in weights.items()}
    except (HarnessError, TypeError, AttributeError):
        return ""
    names = dict(zip(signature.user_inputs, (spec.name for spec in program.inputs), strict=True))
    if any("ml_dtypes" in text for text in held.values()):
        return ""
    return _written(exported, held, names, feeds, {spec.name: outputs[spec.name] for spec in program.outputs})


def _is_more(node: Any) -> bool:
    """Than an operator that computes a value: a body, or one that changes what the program keeps or is given."""
    if node.op in ("get_attr", "call_module"):
        return True
    schema = node.target._schema if node.op == "call_function" and hasattr(node.target, "_schema") else None
    return (
        schema is not None
        and schema.is_mutable
        and any(operand.op == "placeholder" for operand in node.all_input_nodes)
    )


def _written(
    exported: Any,
    held: Mapping[str, str],
    names: Mapping[Any, str],
    feeds: Mapping[str, Tensor],
    outputs: Mapping[str, Tensor],
) -> str:
    graph = exported.graph_module.code.strip().replace("def forward(self", "def graph(self", 1)
    graph = re.sub(r";  (?:\w+ = )+None", "", graph)
    placeholders = [node.name for node in exported.graph.nodes if node.op == "placeholder"]
    passed = ", ".join(f"self.{name}" if name in held else name for name in placeholders)
    kept = "".join(f"        self.register_buffer({name!r}, torch.tensor({text}))\n" for name, text in held.items())
    fed = "".join(f"    {name!r}: {array_code(np.asarray(feeds[name]))},\n" for name in names.values())
    right = "".join(f"    {name!r}: {array_code(np.asarray(array))},\n" for name, array in outputs.items())
    return (
        f"{graph}\n\n\n"
        "class Smallest(torch.nn.Module):\n"
        f"    inputs = {list(names.values())!r}\n"
        f"    outputs = {list(outputs)!r}\n\n"
        f"    def __init__(self):\n        super().__init__()\n{kept}\n"
        f"    def forward(self, {', '.join(map(str, names))}):\n"
        f"        return graph(self, {passed})\n\n\n"
        "model = Smallest().eval()\n"
        f"inputs = {{\n{fed}}}\n"
        f"expected = {{\n{right}}}\n"
    )
