"""Inputs and options that are refused, in the words a user meets."""

from __future__ import annotations

import numpy as np
import pytest

from assay.backends.check_inputs import check_inputs
from assay.backends.flow_options import positive, resolve_options
from assay.backends.torch.inductor_config import read_config
from assay.core.flow import Flow, Option
from assay.core.model import TensorSpec
from assay.errors import UsageError
from assay.ports import OptionSpec, Tensor

_SPECS = (TensorSpec("image", "float32", ("batch", 3)), TensorSpec("scale", "float32", ()))
_GOOD: dict[str, Tensor] = {"image": np.zeros((7, 3), np.float32), "scale": np.zeros((), np.float32)}


def test_right_feeds_pass() -> None:
    check_inputs(_GOOD, _SPECS)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"image": np.zeros((7, 2), np.float32)}, 'Input "image" has shape [7, 2]; the model takes [batch, 3].'),
        ({"image": np.zeros((1, 7, 3), np.float32)}, 'Input "image" has shape [1, 7, 3]; the model takes [batch, 3].'),
        ({"image": np.zeros((7, 3), np.float64)}, 'Input "image" is float64; the model takes float32.'),
        ({"scale": np.zeros((1,), np.float32)}, 'Input "scale" has shape [1]; the model takes [].'),
        ({"mask": np.zeros(1)}, 'Input "mask" is fed, but the model has no such input.'),
    ],
)
def test_wrong_feeds(change: dict[str, Tensor], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_inputs({**_GOOD, **change}, _SPECS)
    assert str(caught.value) == text


def test_missing_feed() -> None:
    with pytest.raises(ValueError, match='Input "scale" is missing; feed image, scale'):
        check_inputs({"image": _GOOD["image"]}, _SPECS)


_OPTIONS = (OptionSpec("level", "all", ("basic", "all")), OptionSpec("threads", 1), OptionSpec("seconds", 0.5))


def _flow(**options: Option) -> Flow:
    return Flow(name="mine", backend="toy", options=options)


def test_defaults_fill_up() -> None:
    assert resolve_options(_OPTIONS, _flow(threads=4)) == {"level": "all", "threads": 4, "seconds": 0.5}


def test_whole_number_for_a_float() -> None:
    assert resolve_options(_OPTIONS, _flow(seconds=2))["seconds"] == 2


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"thread": 2}, 'Flow "mine": backend "toy" has no option "thread"; perhaps you mean \'threads\'.'),
        ({"zzz": 2}, 'Flow "mine": backend "toy" has no option "zzz"; choose one of level, threads, seconds.'),
        ({"level": "most"}, 'Flow "mine": option "level" cannot be \'most\'; use one of: basic, all.'),
        ({"threads": True}, 'Flow "mine": option "threads" takes int, not True; its default is 1.'),
        ({"threads": 1.5}, 'Flow "mine": option "threads" takes int, not 1.5; its default is 1.'),
    ],
)
def test_refused_options(options: dict[str, Option], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve_options(_OPTIONS, _flow(**options))
    assert str(caught.value) == text


def test_no_threads_at_all() -> None:
    with pytest.raises(UsageError, match='option "threads" must be at least 1, not 0'):
        positive(resolve_options(_OPTIONS, _flow(threads=0)), "threads", _flow(threads=0))


@pytest.mark.parametrize("text", ["epilogue_fusion", "=1"])
def test_a_setting_of_inductor_has_a_name_and_a_value(text: str) -> None:
    with pytest.raises(UsageError, match="write name=value"):
        read_config(text, "torch-inductor")


def test_settings_of_inductor_are_values_of_python() -> None:
    text = "epilogue_fusion=False;cpp.simdlen=1;cpp.enable_floating_point_contract_flag=off"
    assert list(read_config(text, "torch-inductor").values()) == [False, 1, "off"]
