"""Which values share a range that is found while running: what the spelled-out program says is compared with XNNPACK itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from assay import plugins
from assay.core.model import TensorSpec
from assay.models.program import save_program
from assay.worker.reference.reference_evaluation import QUANTIZED, evaluate

SHAPE = (3, 16, 9, 9)


class _SplitBias(torch.nn.Module):
    """As attention has it where queries and keys come of different values: XNNPACK leaves it to the portable kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 9))
        self.bias = torch.nn.Parameter(torch.randn(8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weight, self.bias.split(4)[0])


LAYERS = {
    "pointwise": lambda: torch.nn.Conv2d(16, 8, 1),
    "pointwise, strided": lambda: torch.nn.Conv2d(16, 8, 1, stride=2),
    "pointwise, padded": lambda: torch.nn.Conv2d(16, 8, 1, padding=1),
    "pointwise, in groups": lambda: torch.nn.Conv2d(16, 8, 1, groups=2),
    "transposed": lambda: torch.nn.ConvTranspose2d(16, 8, 4, 2, 1),
    "transposed, pointwise": lambda: torch.nn.ConvTranspose2d(16, 8, 1),
    "3x3": lambda: torch.nn.Conv2d(16, 8, 3),
    "linear": lambda: torch.nn.Linear(9, 4),
    "linear, its bias computed": _SplitBias,
}


class _Branches(torch.nn.Module):
    """One value, two kinds of ranges: for this XNNPACK itself is wrong (docs/findings)."""

    def __init__(self, product: torch.nn.Module, window: torch.nn.Module) -> None:
        super().__init__()
        self.product, self.window = product, window

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.product(x) + self.window(x)  # type: ignore[no-any-return]


def _pictures() -> np.ndarray:
    """Of unlike ranges."""
    x = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)
    return x * np.linspace(1, 9, SHAPE[0], dtype=np.float32).reshape(-1, 1, 1, 1)


def _quantized(layer: torch.nn.Module, x: np.ndarray, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    program = torch.export.export(layer.eval(), (torch.ones(SHAPE),))
    whole = save_program(program, folder / "one.pt2", (TensorSpec("x", "float32", SHAPE),), ["y"])
    transform = plugins.load("assay.transforms", "xnnpack-int8")()
    transform.prepare()
    return transform.apply(whole, folder, "dynamic-per-channel", [{"x": x}])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", LAYERS)
def test_ranges_are_those_of_the_engine(kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    x = _pictures()
    quantized = _quantized(LAYERS[kind](), x, tmp_path)
    backend = plugins.load("assay.backends", "executorch")()
    backend.prepare()
    engine = backend.lower(quantized, plugins.find_flow("executorch-xnnpack-dynamic-int8-per-channel"))
    expected = evaluate(quantized, [{"x": x}], oracles=QUANTIZED)[0]["y"]
    np.testing.assert_allclose(engine.run({"x": x})["y"], expected, rtol=1e-6, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_each_reader_of_a_value_has_ranges_of_its_own(tmp_path: Path) -> None:
    torch.manual_seed(0)
    product, window = torch.nn.Conv2d(16, 8, 1), torch.nn.Conv2d(16, 8, 3, padding=1)
    x = _pictures()
    layers = {"product": product, "window": window, "both": _Branches(product, window)}
    by_name = {
        name: evaluate(_quantized(layer, x, tmp_path / name), [{"x": x}], oracles=QUANTIZED)[0]["y"]
        for name, layer in layers.items()
    }
    np.testing.assert_allclose(by_name["both"], by_name["product"] + by_name["window"], rtol=0, atol=1e-5)
