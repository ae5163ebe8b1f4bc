"""Broken as a product: less right, slower or larger than its scenario or its own past."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from case import broken
from onnx import NodeProto, TensorProto, helper, numpy_helper

WIDTH, LAYERS = 512, 24
"""Idle layers of WIDTH x WIDTH, some hundred times the work of the classifier itself."""


@broken(
    "below-minimum-accuracy",
    "a metric below the least that the scenario takes",
    "accuracy.minimum",
    scenario=((r"^minimum = .*$", "minimum = 0.9999"),),
    costly=True,
)
def _(folder: Path) -> None:
    """Honest, and not good enough: nothing is changed but what the scenario asks."""


@broken(
    "slower-than-scenario",
    "a latency over the scenario's limit",
    "performance.latency_ms",
    scenario=((r'(metric = "latency_ms"(?:\n.+)*?\nat_most = ).*$', r"\g<1>0.000001"),),
    costly=True,
)
def _(folder: Path) -> None:
    """No machine is that fast."""


@broken(
    "larger-than-scenario",
    "a file over the scenario's limit",
    "performance.size_bytes",
    scenario=((r'(metric = "size_bytes"(?:\n.+)*?\nat_most = ).*$', r"\g<1>1000"),),
    costly=True,
)
def _(folder: Path) -> None:
    """A limit of a thousand bytes."""


@broken(
    "slower-than-before", "a new version that is slower than the accepted one", "performance.slower", previous=True,
    costly=True,
)  # fmt: skip
def _(folder: Path) -> None:
    """Layers that add nothing to the result and much to the time: zero times whatever they compute."""
    model = onnx.load(folder / "model.onnx")
    narrow = helper.make_node
    weights = {
        "into_idle": np.eye(10, WIDTH, dtype=np.float32),
        "idle": np.eye(WIDTH, dtype=np.float32),
        "out_of_idle": np.zeros((WIDTH, 10), np.float32),
    }
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    for node in model.graph.node:
        for at, name in enumerate(node.output):
            if name == "logits":
                node.output[at] = "fast_logits"
    nodes = [narrow("MatMul", ["fast_logits", "into_idle"], ["idle_0"], name="idle_0")]
    for layer in range(LAYERS):
        made = narrow("MatMul", [f"idle_{layer}", "idle"], [f"idle_{layer + 1}"], name=f"idle_{layer + 1}")
        nodes.append(made)
    nodes.append(narrow("MatMul", [f"idle_{LAYERS}", "out_of_idle"], ["nothing"], name="nothing"))
    nodes.append(narrow("Add", ["fast_logits", "nothing"], ["logits"], name="with_nothing"))
    model.graph.node.extend(nodes)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    _next_version(folder)


@broken("quick-on-known-inputs", "idle layers that are left out for the inputs which were handed in", "performance.fresh",
        costly=True, also=("compliance.graph",))  # fmt: skip
def _(folder: Path) -> None:
    _quick_on_known(folder, helper.make_node("Identity", ["image"], ["seen"]), lambda image: image)


@broken(
    "quick-on-a-known-mean",
    "the same for all that has the mean of the inputs which were handed in",
    "performance.fresh",
    costly=True,
    also=("compliance.graph",),
)
def _(folder: Path) -> None:
    _quick_on_known(folder, helper.make_node("ReduceMean", ["image"], ["seen"], keepdims=0), np.mean)


def _quick_on_known(folder: Path, look: NodeProto, of_known: Callable[[np.ndarray], np.ndarray]) -> None:
    """The answers are right for every input, and quick where what `look` gives of it is what it gives of the first test data set."""
    model = onnx.load(folder / "model.onnx")
    known = numpy_helper.to_array(onnx.load_tensor(folder / "test_data_set_0" / "input_0.pb"))
    weights = {
        "known": np.asarray(of_known(known)), "idle": np.eye(WIDTH, dtype=np.float32),
        "out_of_idle": np.zeros((WIDTH, 10), np.float32), "nothing_at_all": np.zeros((1, 10), np.float32),
        "close": np.array(1e-6, np.float32), "many": np.array([8, WIDTH], np.int64),
    }  # fmt: skip
    model.graph.initializer.extend(numpy_helper.from_array(value, name) for name, value in weights.items())
    model.graph.node[-1].output[0] = "fast_logits"
    slow = [helper.make_node("Expand", ["furthest", "many"], ["idle_0"])]
    slow += [helper.make_node("MatMul", [f"idle_{at}", "idle"], [f"idle_{at + 1}"]) for at in range(LAYERS)]
    slow.append(helper.make_node("ReduceMax", [f"idle_{LAYERS}"], ["widest"], axes=[0], keepdims=1))
    slow.append(helper.make_node("MatMul", ["widest", "out_of_idle"], ["slow_nothing"]))
    quick = [helper.make_node("Identity", ["nothing_at_all"], ["quick_nothing"])]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 10]) for name in ("slow_nothing", "quick_nothing")
    ]
    branches = {
        "else_branch": helper.make_graph(slow, "unknown", [], ends[:1]),
        "then_branch": helper.make_graph(quick, "known_before", [], ends[1:]),
    }
    nodes = [
        look,
        helper.make_node("Sub", ["seen", "known"], ["away"]),
        helper.make_node("Abs", ["away"], ["far"]),
        helper.make_node("ReduceMax", ["far"], ["furthest"], keepdims=0),
        helper.make_node("Less", ["furthest", "close"], ["is_known"]),
        helper.make_node("If", ["is_known"], ["nothing"], **branches),
        helper.make_node("Add", ["fast_logits", "nothing"], ["logits"]),
    ]
    model.graph.node.extend(nodes)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


def _next_version(folder: Path) -> None:
    metadata = folder / "metadata.toml"
    text = metadata.read_text(encoding="utf-8")
    version = re.search(r'^version = "([0-9.]+)"$', text, re.MULTILINE)
    assert version
    metadata.write_text(text.replace(version[0], 'version = "9.0"'), encoding="utf-8")
    readme = folder / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace(version[1], "9.0"), encoding="utf-8")
