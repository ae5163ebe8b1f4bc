"""Broken as a product: less right, slower or larger than its scenario or its own past."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import onnx
from case import broken
from onnx import helper, numpy_helper

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


def _next_version(folder: Path) -> None:
    metadata = folder / "metadata.toml"
    text = metadata.read_text(encoding="utf-8")
    version = re.search(r'^version = "([0-9.]+)"$', text, re.MULTILINE)
    assert version
    metadata.write_text(text.replace(version[0], 'version = "9.0"'), encoding="utf-8")
    readme = folder / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace(version[1], "9.0"), encoding="utf-8")
