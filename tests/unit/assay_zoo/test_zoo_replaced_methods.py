"""Methods of what packages make, that a submission replaces; what is its own it may change."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.code_scan import reaches

_MADE = "import onnxruntime as ort\nimport helper\ndef fake(*a): return [1]\ns = ort.InferenceSession('m.onnx')\n"


@pytest.mark.parametrize(
    "code",
    [
        "s.run = lambda *a: [1]",
        "s.run = fake",
        "type(s).run = fake",
        "s.__class__.run = x",
        "ort.InferenceSession('m.onnx').run = fake",
        "def patch(session):\n    session.run = fake",
        "class A:\n    def __init__(self):\n        self.s = s\n        self.s.run = self.fake\n    def fake(self): ...",
        "s.run = table.get\ny = s.run(None, {})",
        "for s.run in (fake,): pass",
        "s.run, s.x = fake, 2",
        "import functools\ns.run = functools.partial(fake, 1)",
        "setattr(s, 'run', fake)",
        "object.__setattr__(s, 'run', fake)",
        "from helper import fake as other\ndef g(): ...\nsetattr(type(s), 'run', other)",
    ],
)
def test_a_method_of_a_package_that_is_another_asks(code: str) -> None:
    assert any("is replaced" in one.what and not one.certain for one in reaches(_MADE + code))


@pytest.mark.parametrize(
    "code",
    [
        "o = ort.SessionOptions()\no.intra_op_num_threads = 1\no.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL",
        "import numpy as np\na = np.zeros(3)\na.shape = (3, 1)\ndf.index = np.arange(3)\n[1].index(1)",
        "fake.calls = 0\nfake.original = fake",
        "n = helper.Net()\nn.act = lambda x: x",
        "class A:\n    def f(self):\n        type(self).count = 1\n        self.__class__.n = 2\n        self.g = self.f\n        self.g()",
        "class A: ...\nb = A()\nb.run = fake\nb.run(1)",
        "import argparse\nb = argparse.ArgumentParser().parse_args()\nb.func = fake\nb.func(1)",
        "def wrap(f):\n    def inner(): ...\n    inner.original = f\n    return inner",
    ],
)
def test_what_is_its_own_a_submission_may_change(code: str) -> None:
    assert reaches(_MADE + code) == []
