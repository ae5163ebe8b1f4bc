"""TF32 of the torch backend, as far as it needs no GPU: the settings are as asked and put back, and what torch chooses is named."""

from __future__ import annotations

import pytest
import torch

from assay.backends.torch.tf32 import tf32_as_asked, tf32_defaults
from assay.core.engine_info import NumericDefault

CONVOLUTION = (("aten.conv2d.default", "float32"),)


def _settings() -> tuple[str, str, str]:
    backends = torch.backends
    return (
        backends.cudnn.conv.fp32_precision,
        backends.cudnn.rnn.fp32_precision,
        backends.cuda.matmul.fp32_precision,
    )


@pytest.mark.parametrize(("asked", "inside"), [("off", "ieee"), ("on", "tf32")])
def test_torch_computes_as_asked_and_is_put_back(asked: str, inside: str) -> None:
    before = _settings()
    with tf32_as_asked({"tf32": asked, "device": "cuda"}):
        assert _settings() == (inside,) * 3
    assert _settings() == before


@pytest.mark.parametrize("options", [{"tf32": "default", "device": "cuda"}, {"tf32": "on", "device": "cpu"}])
def test_else_nothing_is_touched(options: dict[str, str]) -> None:
    before = _settings()
    with tf32_as_asked(options):
        assert _settings() == before


def test_what_torch_chooses_is_named_with_the_option_against_it() -> None:
    numeric_defaults = tf32_defaults({"tf32": "default", "device": "cuda"}, CONVOLUTION)
    assert numeric_defaults == (NumericDefault("cudnn.conv.fp32_precision", "tf32", "coarse-products", "tf32", "off"),)


@pytest.mark.parametrize(
    ("options", "operators"),
    [
        ({"tf32": "default", "device": "cpu"}, CONVOLUTION),
        ({"tf32": "off", "device": "cuda"}, CONVOLUTION),
        ({"tf32": "default", "device": "cuda"}, (("aten.conv2d.default", "float16"),)),
        ({"tf32": "default", "device": "cuda"}, (("aten.mm.default", "float32"),)),
    ],
)
def test_what_does_not_apply_is_not(options: dict[str, str], operators: tuple[tuple[str, str], ...]) -> None:
    assert tf32_defaults(options, operators) == ()
