"""Nodes of exported programs that are quantized, also while they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from classifier_per_node import DIGITS, MODEL, per_node_results
from onnx import ModelProto, numpy_helper

from assay import plugins
from assay.core.model import TensorSpec
from assay.core.outcome import Outcome
from assay.models.conversion import convert_to
from assay.models.expose_program_intermediates import expose_program_intermediates
from assay.models.goldens import read_golden
from assay.models.program import open_program, save_program
from assay.onnx_to_torch.dtypes import to_numpy
from assay.worker.per_node.node_comparison import NodeComparisons

XNNPACK = (
    'backend = "executorch"\noptions = { delegate = "xnnpack" }\ntransforms = ["xnnpack-int8"]\nprecision = "int8"'
)


@pytest.mark.slow
def test_a_quantized_program_is_tapped_where_it_is_put_on_a_grid(tmp_path: Path) -> None:
    """XNNPACK computes what lies between two grids as one: the engine with the taps is the engine without."""
    (result,) = per_node_results({"xnnpack": XNNPACK}, tmp_path).values()
    assert result.outcome is Outcome.OK, result.detail
    assert "10 nodes are right on their own inputs" in result.detail
    assert "the tapped engine's" not in result.detail


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torchao imports
def test_a_program_whose_layer_is_off_by_a_step_is_told_from_one_next_to_a_tie(tmp_path: Path) -> None:
    """The taps of a program compared with a graph of which one layer has another scale: as if the engine had."""
    transform = plugins.load("assay.transforms", "xnnpack-int8")()
    transform.prepare()
    samples = [dict(feed) for feed in read_golden(DIGITS / "goldens" / "classifier").inputs[:4]]
    program = convert_to(MODEL, "torch", tmp_path, shapes={name: array.shape for name, array in samples[0].items()})
    tapped, graph, taps = expose_program_intermediates(transform.apply(program, tmp_path, "", samples), tmp_path)
    assert len(taps) == 9
    assert set(taps) < {name for node in graph.graph.node for name in node.output}
    opened = open_program(tapped)
    values = []
    for sample in samples[:2]:
        args, kwargs = opened.arguments(sample)
        results = opened.results(opened.exported.module()(*args, **kwargs))
        values.append({**sample, **{name: to_numpy(array) for name, array in results.items()}})
    sound = NodeComparisons(graph, values, "int8", (), 0)
    assert all(seen is not None and seen.budget <= 1.0 for seen in map(sound.judge, sound.all))
    node = next(inner for inner in graph.graph.node if inner.output[0] == "quantize_per_tensor_4")
    scale = next(tensor for tensor in graph.graph.initializer if tensor.name == node.input[1])
    graph.graph.initializer.append(numpy_helper.from_array(numpy_helper.to_array(scale) * np.float32(1.01), "wrong"))
    node.input[1] = "wrong"
    lying = NodeComparisons(graph, values, "int8", (), 0)
    blamed = [
        candidate for candidate in lying.all if (seen := lying.judge(candidate)) is not None and seen.budget > 1.0
    ]
    assert [candidate.output[0] for candidate in blamed] == ["quantize_per_tensor_4"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torchao imports
def test_a_program_quantized_while_running_is_judged_by_the_rows_that_enter_its_products(tmp_path: Path) -> None:
    """XNNPACK finds a range for each row, torch's graph one for all: the engine's own inputs say which ranges are right."""
    import torch

    class Two(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.last = torch.nn.Linear(16, 32), torch.nn.Linear(32, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(torch.relu(self.first(x)))  # type: ignore[no-any-return]

    torch.manual_seed(0)
    made = torch.export.export(Two().eval(), (torch.ones(4, 16),))
    whole = save_program(made, tmp_path / "two.pt2", (TensorSpec("x", "float32", (4, 16)),), ["y"])
    transform = plugins.load("assay.transforms", "xnnpack-int8")()
    transform.prepare()
    quantized = transform.apply(whole, tmp_path, "dynamic-per-channel", [{"x": np.ones((4, 16), np.float32)}])
    tapped, graph, taps = expose_program_intermediates(quantized, tmp_path)
    assert taps == ["relu"]
    backend = plugins.load("assay.backends", "executorch")()
    backend.prepare()
    flow = plugins.find_flow("executorch-xnnpack-dynamic-int8-per-channel")
    engine = backend.lower(tapped, flow)
    rng = np.random.default_rng(3)
    samples = [{"x": (scale * rng.standard_normal((4, 16))).astype(np.float32)} for scale in (1.0, 20.0)]
    samples[1]["x"][2] = 0.0  # a row without a range
    values = [{**sample, **engine.run(sample)} for sample in samples]
    sound = NodeComparisons(graph, values, "int8", (), 0)
    assert [node.output[0] for node in sound.all] == ["relu", "y"]
    judgements = [sound.judge(node) for node in sound.all]
    assert all(seen is not None and seen.budget <= 1.0 for seen in judgements), judgements
    for name, wrong in (("relu", 1.01), ("y", 0.99)):
        lying = [{**sample, name: (sample[name] * np.float32(wrong)).astype(np.float32)} for sample in values]
        nodes = NodeComparisons(graph, lying, "int8", (), 0)
        blamed = [node.output[0] for node in nodes.all if (seen := nodes.judge(node)) is not None and seen.budget > 1.0]
        assert blamed[0] == name
    plain = engine_free(open_program(quantized), samples)
    assert max(float(np.abs(array - value["y"]).max()) for array, value in zip(plain, values, strict=True)) > 1e-3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what torchao imports
def test_convolutions_quantized_while_running_are_judged_and_a_lost_bias_or_a_step_is_named(tmp_path: Path) -> None:
    """Spelled out, a range is clamped as ReLU6 is: the values keep their names all the same."""
    sound, graph = tapped_depthwise(tmp_path / "sound")
    taps = {node.output[0] for node in sound(graph).all}
    assert taps == {"hardtanh_1", "flatten", "y"}
    judgements = [sound(graph).judge(node) for node in sound(graph).all]
    assert all(seen is not None and seen.budget <= 1.0 for seen in judgements), judgements
    # Both in one net: each node is judged on what entered it.
    lying, _ = tapped_depthwise(tmp_path / "lying", {"2.bias": 0.0, "4.weight": 128 / 127})
    nodes = lying(graph)
    blamed = [node.output[0] for node in nodes.all if (seen := nodes.judge(node)) is not None and seen.budget > 1.0]
    assert blamed == ["hardtanh_1", "flatten"]


def tapped_depthwise(
    folder: Path, broken: dict[str, float] | None = None
) -> tuple[Callable[[ModelProto], NodeComparisons], ModelProto]:
    """A net of which each parameter in `broken` is so many times what it should be, run by XNNPACK, to compare with a graph; and its own
    graph."""
    import torch

    folder.mkdir()
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, 2), torch.nn.ReLU6(),
        torch.nn.Conv2d(8, 8, 3, groups=8), torch.nn.ReLU6(),
        torch.nn.Conv2d(8, 12, 1), torch.nn.ReLU6(),
        torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(12, 5),
    ).eval()  # fmt: skip
    for name, factor in (broken or {}).items():
        net.get_parameter(name).data.mul_(factor)
    shape = (2, 3, 13, 11)
    made = torch.export.export(net, (torch.ones(shape),))
    whole = save_program(made, folder / "net.pt2", (TensorSpec("x", "float32", shape),), ["y"])
    transform = plugins.load("assay.transforms", "xnnpack-int8")()
    transform.prepare()
    tapped, graph, _ = expose_program_intermediates(transform.apply(whole, folder, "dynamic-per-channel", ()), folder)
    backend = plugins.load("assay.backends", "executorch")()
    backend.prepare()
    engine = backend.lower(tapped, plugins.find_flow("executorch-xnnpack-dynamic-int8-per-channel"))
    samples = [{"x": np.random.default_rng(number).standard_normal(shape).astype(np.float32)} for number in range(2)]
    values = [{**sample, **engine.run(sample)} for sample in samples]
    return lambda held: NodeComparisons(held, values, "int8", (), 0), graph


def engine_free(program: Any, samples: list[dict[str, Any]]) -> list[Any]:
    """What torch makes of its own graph."""
    answers = []
    for sample in samples:
        args, kwargs = program.arguments(sample)
        answers.append(to_numpy(program.results(program.exported.module()(*args, **kwargs))["y"]))
    return answers
