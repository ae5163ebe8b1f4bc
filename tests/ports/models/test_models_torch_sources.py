"""Factories and programs as models: described, delivered in both forms, refused in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch

from assay.errors import BadModel, InvalidModel
from assay.models.conversion import convert_to, format_of
from assay.models.program import open_program
from assay.models.sources import check_source, is_factory, open_source, source_name
from assay.onnx_to_torch.dtypes import to_numpy

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

_MODULE = """
import os
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, image, offset):
        features = torch.relu(self.conv(image))
        return {"mean": self.drop(features).mean((2, 3)) + offset, "features": features}


EXAMPLE = (torch.zeros(2, 3, 8, 8), torch.zeros(4))


def net():
    return Net(), EXAMPLE, {"image": {0: torch.export.Dim("batch")}, "offset": None}


def attribute():
    module = Net()
    module.example_inputs = {"image": EXAMPLE[0], "offset": EXAMPLE[1]}
    return module


def different():
    module = Net()
    torch.nn.init.constant_(module.conv.bias, int.from_bytes(os.urandom(4), "big"))
    return module, EXAMPLE


def raises():
    raise FileNotFoundError("no weights in weights.bin")


def without():
    return Net()


def number():
    return 3


class Branch(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def branch():
    return Branch(), torch.ones(2)


class Halves(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool2d(x, 2, ceil_mode=True)[..., 1:] + x[..., 3::2]


def halves():
    return Halves(), (torch.ones(1, 1, 2, 8),), {"x": {3: torch.export.Dim("width", min=4, max=64)}}


LIST = [1]
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import sys

    (tmp_path / "somebodys_models.py").write_text(_MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("somebodys_models", None)


def _source(name: str) -> Path:
    return Path(f"somebodys_models:{name}")


def test_a_factory_is_a_model(tmp_path: Path) -> None:
    model = open_source(_source("net"))
    assert (model.name, model.format) == ("somebodys_models:net", "torch")
    assert [(spec.name, spec.dtype, spec.shape) for spec in model.inputs] == [
        ("image", "float32", ("batch", 3, 8, 8)),
        ("offset", "float32", (4,)),
    ]
    assert [(output.name, output.shape) for output in model.outputs] == [
        ("mean", ("batch", 4)),
        ("features", ("batch", 4, 6, 6)),
    ]
    path = convert_to(_source("net"), "torch", tmp_path)
    assert open_source(path).digest == model.digest
    assert open_source(_source("attribute")).digest != model.digest


def test_a_factory_answers_alike_in_both_forms(tmp_path: Path) -> None:
    feeds: dict[str, Any] = {
        "image": np.random.default_rng(0).normal(size=(3, 3, 8, 8)).astype(np.float32),
        "offset": np.arange(4, dtype=np.float32),
    }
    program = open_program(convert_to(_source("net"), "torch", tmp_path))
    args, kwargs = program.arguments(feeds)
    expected = {
        name: to_numpy(result) for name, result in program.results(program.exported.module()(*args, **kwargs)).items()
    }
    session = onnxruntime.InferenceSession(
        str(convert_to(_source("net"), "onnx", tmp_path)), providers=["CPUExecutionProvider"]
    )
    assert [(node_arg.name, node_arg.shape) for node_arg in session.get_inputs()] == [
        ("image", ["batch", 3, 8, 8]),
        ("offset", [4]),
    ]
    assert [output.name for output in session.get_outputs()] == ["mean", "features"]
    for name, got in zip(expected, session.run(None, feeds), strict=True):
        np.testing.assert_allclose(got, expected[name], rtol=1e-5, atol=1e-6)


def test_weights_drawn_at_random_are_the_same_every_time() -> None:
    torch.manual_seed(1)
    first = open_source(_source("net")).digest
    torch.manual_seed(2)
    assert open_source(_source("net")).digest == first
    assert open_source(_source("different")).digest != open_source(_source("different")).digest


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("somebodys_model:net", "there is no module 'somebodys_model' in the current folder"),
        ("somebodys_models:nett", "has no 'nett'; perhaps you mean 'net'"),
        ("somebodys_models:LIST", "is a list and cannot be called"),
        ("somebodys_models:raises", "raised FileNotFoundError: no weights in weights.bin"),
        ("somebodys_models:without", "gives a Net without example inputs; return"),
        ("somebodys_models:number", "gives a int; it must give"),
        ("somebodys_models:branch", "cannot be exported by torch.export"),
        (
            "somebodys_models:halves",
            "allow; torch.export suggests: _width = Dim('_width', min=3, max=32); width = 2*_width",
        ),
    ],
)
def test_bad_factories(source: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadModel) as caught:
        open_source(Path(source))
    assert said in str(caught.value)
    assert str(caught.value).startswith(source)
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidModel, match=source):
        convert_to(Path(source), "torch", tmp_path)


def test_what_is_written_as_a_factory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_factory("package.module:build.it")
    assert not is_factory("models/net.onnx")
    assert not is_factory("C:/net.onnx")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").write_bytes(b"x")
    assert not is_factory("a:b")
    assert source_name(Path("package.module:build")) == "package.module:build"
    assert [format_of(Path(name)) for name in ("m:f", "x.pt2", "x.onnx", "x")] == ["factory", "torch", "onnx", "onnx"]
    with pytest.raises(BadModel, match="does not exist"):
        check_source(Path("missing.pt2"))
    for source, factory in (("factory.py:net", "factory:net"), ("./nets/small.py:Build.it", "nets.small:Build.it")):
        with pytest.raises(BadModel, match=f"names a file; write the module .*: {factory}$"):
            check_source(Path(source))


@pytest.mark.parametrize(
    ("source", "advice"),
    [
        ("src/my-app/net.py:f", "run in the folder src/my-app, and write net:f"),
        ("../x/net.py:f", r"run in the folder \.\./x, and write net:f"),
        ("/x/net.py:f", "run in the folder /x, and write net:f"),
        ("src/my-net.py:f", r"no module can be called like my-net\.py; rename it"),
        ("nets/../small.py:f", "write the module and the function that builds the model: small:f"),
    ],
)
def test_a_file_that_is_no_module_from_here_is_told_where_it_is_one(source: str, advice: str) -> None:
    with pytest.raises(BadModel, match=advice):
        check_source(Path(source))


def test_a_program_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "noise.pt2").write_bytes(b"noise")
    with pytest.raises(BadModel, match=r"noise\.pt2 is no exported program"):
        open_source(tmp_path / "noise.pt2")
