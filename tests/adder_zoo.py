"""A zoo of one small model, and submissions to it."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import onnx
from onnx import TensorProto, helper

from assay_zoo.check import EXECUTING, Check, CheckOutcome
from assay_zoo.decision import decide
from assay_zoo.inspect import Inspection
from assay_zoo.intake import take_in
from assay_zoo.promote import Change, promote

METADATA = """\
name = "adder"
version = "{version}"
title = "Adds | <b>one</b>"
description = "Adds."
license = "MIT"
scenario = "s"
use_cases = ["sums"]
source = "here"
references = ["none"]
contributors = ["me"]
opset = 17
tags = ["sum"]
inputs = [{{ name = "x", dtype = "float32", shape = ["n"] }}]
outputs = [{{ name = "y", dtype = "float32", shape = ["n"] }}]
dataset = {{ name = "d", source = "s", license = "MIT", preparation = "p" }}
accuracy = {{ metric = "m", value = 0.5, read = "output:m" }}
"""


def submitted(root: Path, version: str) -> Inspection:
    """A submission in its place, and an inspection of it in which everything passed."""
    folder = root / "submissions" / "adder"
    folder.mkdir()
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], f"g{version}", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), folder / "model.onnx")
    (folder / "metadata.toml").write_text(METADATA.format(version=version))
    return inspected(root)


def inspected(root: Path, name: str = "adder") -> Inspection:
    copy = root / "copy"
    digest = take_in(root / "submissions" / name, copy).digest
    shutil.rmtree(copy)
    figures = {"latency_ms": 1.5, "machine": "a CPU", "flow": "onnxruntime"}
    checks = [Check(name=f"{group}.x", outcome=CheckOutcome.PASSED, sentence="fine", executed=1) for group in EXECUTING]
    checks[-1] = msgspec.structs.replace(checks[-1], figures=figures)
    checks[-2] = msgspec.structs.replace(checks[-2], figures={"measured": 0.49})
    check_tuple = tuple(checks)
    return Inspection(
        name=name, digest=digest, checks=check_tuple, decision=decide(check_tuple), at="2026-11-22", version="1"
    )


def accepted(root: Path, *versions: str) -> list[Change]:
    return [promote(root, "adder", submitted(root, version), "me") for version in versions]


def empty_zoo(root: Path) -> Path:
    """With an index that has words of its own."""
    (root / "submissions").mkdir(parents=True)
    (root / "zoo.toml").write_text('name = "a zoo"\n')
    (root / "README.md").write_text("# A zoo\n\nwords above\n")
    return root
