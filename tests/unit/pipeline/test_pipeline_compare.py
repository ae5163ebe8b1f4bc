"""Two models that cannot be fed the same, and batches that one cannot take: refused before anything runs."""

from __future__ import annotations

import pytest

from assay.core.model import Model, TensorSpec
from assay.errors import UsageError
from assay.pipeline.compare import Shape, _demand_free_batch, _demand_same_inputs


def _model(name: str, **inputs: tuple[str, Shape]) -> Model:
    return Model(name, f"{name}.onnx", "", tuple(TensorSpec(text, *spec) for text, spec in inputs.items()))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ({"x": ("float32", (1, 4))}, {"y": ("float32", (1, 4))}, "only one of old and new has an input 'x'"),
        ({"x": ("float32", (1, 4))}, {"x": ("float16", (1, 4))}, "input 'x' is float32 in old and float16 in new"),
        ({"x": ("float32", (1, 4))}, {"x": ("float32", (1, 5))}, r"input 'x' is \[1, 4\] in old and \[1, 5\] in new"),
        ({"x": ("float32", ("n", 4))}, {"x": ("float32", (4,))}, r"input 'x' is \[n, 4\] in old and \[4\] in new"),
    ],
)
def test_not_comparable(old: dict[str, tuple[str, Shape]], new: dict[str, tuple[str, Shape]], message: str) -> None:
    with pytest.raises(UsageError, match=f"^not comparable: {message}$"):
        _demand_same_inputs(_model("old", **old), _model("new", **new))


@pytest.mark.parametrize("shape", [("n", 4), (1, 4), ("?", "?"), ("...",)])
def test_comparable(shape: Shape) -> None:
    _demand_same_inputs(_model("old", x=("float32", (1, 4))), _model("new", x=("float32", shape)))


def test_a_fixed_batch() -> None:
    models = (_model("old", x=("float32", ("n", 4))), _model("new", x=("float32", (1, 4))))
    _demand_free_batch(models, ())
    _demand_free_batch(models, (1,))
    with pytest.raises(UsageError, match=r"batch 8 cannot be fed: input 'x' of new is fixed at \[1, 4\]"):
        _demand_free_batch(models, (1, 8))
