"""Methods of what packages make, that a submission replaces; what is its own it may change."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay_zoo.allowed_packages import PACKAGES
from assay_zoo.artifacts.code_scan import reaches
from assay_zoo.artifacts.package_names import may_ask_for
from scanned_code import scanned

_MADE = (
    "import onnxruntime as ort\nimport helper\nfrom PIL import Image\ndef fake(*a): return [1]\n"
    "s = ort.InferenceSession('m.onnx')\ns.run(None, {})\n"
)
_NET = """def relu(x): return x
class L:
    def __init__(self): self.act = None
    @classmethod
    def make(cls): return cls()
"""


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
        "for s.run in (fake,): pass\ns.run(None, {})",
        "def swap(t, how): t.run = how\nswap(s, fake)\ns.run(None, {})",
        "g = fake\nt = s\nt.run = g\ns.run(None, {})",
        "t = s\nt.run = fake if True else None\ns.run(None, {})",
        "t = s\nt.run = {'a': fake}['a']\ns.run(None, {})",
        "def mk(): return fake\nt = s\nt.run = mk()\ns.run(None, {})",
        "self = s\nself.run = fake",
        "def f(cls): cls.run = fake\nf(ort.InferenceSession)",
        "def f(self): self.run = fake\nf(s)",
        "class A:\n    def f(self): self.run = fake\nA.f(s)",
        "class A:\n    def f(self): self.run = fake\nlist(map(A.f, [s]))",
        "class A:\n    def f(self): self.run = fake\nB = A\ngetattr(B, 'f')(s)",
        "class A:\n    def f(self): self.run = fake\nfor B in (A,): B.f(s)",
        "class A:\n    def f(self): self.run = fake\nsuper(A, A).f(s)",
        "class Fake: ...\ns._sess = Fake()",
        "class Fake: ...\ndef f(a): a._sess = Fake()\nf(s)",
        "class A:\n    @staticmethod\n    def f(a): a.run = fake\nA.f(s)",
        "class S: ...\ns.__class__ = S",
        "with fake as s.run: ...\ns.run(None, {})",
        "[0 for s.run in [fake]]\ns.run(None, {})",
        "def build(): return ort.InferenceSession('m.onnx')\nt = build()\nt.run = fake",
        "def infer(t): return t.run(None, {})\ndef swap(t, how): t.run = how\nswap(s, fake)\ninfer(s)",
        "s.run, s.x = fake, 2",
        "import functools\ns.run = functools.partial(fake, 1)",
        "setattr(s, 'run', fake)",
        "def patch(im): im.load = fake\npatch(Image.open('a.png')).resize(1)",
        "def patch(im): im.load = lambda: 1\ndef main(a): patch(a)\nmain(Image.open('a.png'))",
        "def patch(im): im.load = fake\nlist(map(patch, [Image.open('a.png')]))",
        "[im] = [*map(Image.open, ['a.png'])]\nim.load = fake",
        "object.__setattr__(s, 'run', fake)",
        "from helper import fake as other\ndef g(): ...\nsetattr(type(s), 'run', other)",
        "class P:\n    def __init__(self, t): t.load = fake\nim = Image.open('a.png')\nP(im)\nim.resize(1)",
        "class P:\n    def __call__(self, t): t.load = fake\nim = Image.open('a.png')\nP()(im)\nim.resize(1)",
        "class P:\n    def __matmul__(self, t): t.load = fake\nP() @ Image.open('a.png')",
        "class P:\n    def __getitem__(self, t): t.load = fake\nP()[Image.open('a.png')]",
        "class P:\n    def __init__(self, t): self.t = t\n    def go(self): self.t.load = fake\nP(Image.open('a.png')).go()",
        "class P:\n    def __init__(self, t): self.t = t\n    def go(self): self.t.load = fake\nclass Q(P): ...\nQ(s).go()",
    ],
)
def test_a_method_of_a_package_that_is_another_asks(code: str) -> None:
    assert any("is replaced" in one.what and not one.certain for one in reaches(_MADE + code))


@pytest.mark.parametrize(
    "call",
    [
        "Tool.patch(s)",
        "tools = [Tool]\ntools[0].patch(s)",
        "t = {'a': Tool}\nt['a'].patch(s)",
        "(Tool if s else None).patch(s)",
        "(t := Tool).patch(s)",
        "(None or Tool).patch(s)",
        "def g(): return Tool\ng().patch(s)",
        "class H: ...\nh = H()\nh.tool = Tool\nh.tool.patch(s)",
        "def f(T): T.patch(s)\nf(Tool)",
        "Tool.mro()[0].patch(s)",
        "match Tool:\n    case T: T.patch(s)",
        "class B(Tool):\n    @classmethod\n    def all(cls, s): cls.patch(s)\nB.all(s)",
        "Tool.patch(self=s)",
        "Tool.patch(*[s])",
        "list(map([Tool][0].patch, [s]))",
        "import operator\noperator.methodcaller('patch', s)(Tool)",
        "import operator\noperator.attrgetter('patch')(Tool)(s)",
    ],
)
def test_a_class_gives_its_methods_any_value_as_self(call: str) -> None:
    code = f"{_MADE}class Tool:\n    def patch(self): self.run = lambda *a: [0]\n{call}"
    assert any("is replaced" in one.what for one in reaches(code))


@pytest.mark.parametrize(
    "code",
    [
        "class S(ort.InferenceSession):\n    def run(self, *a): return [0]",
        "B = ort.InferenceSession\nclass S(B): ...",
        "from onnx.reference import ReferenceEvaluator\nclass S(ReferenceEvaluator): ...",
        "class S(s.__class__): ...",
        "class S(type(s)): ...",
        "def of(B):\n    class S(B): ...\nof(ort.InferenceSession)",
        "S = type('S', (ort.InferenceSession,), {'run': fake})",
        "def make(object):\n    class S(object): ...\nlist(map(make, helper.all))",
        "def make(object=ort.InferenceSession):\n    class S(object): ...\nmake()",
        "import abc\nS = abc.ABCMeta('S', (ort.InferenceSession,), {})",
        "class M(type): ...\nS = M('S', (ort.InferenceSession,), {})",
        "S = type.__new__(type, 'S', (ort.InferenceSession,), {})",
        "kind = type\nS = kind('S', (ort.InferenceSession,), {})",
        "parts = ('S', (ort.InferenceSession,), {})\nS = type(*parts)",
        "import functools\nS = functools.partial(type, 'S')((ort.InferenceSession,), {})",
        "import dataclasses\nS = dataclasses.make_dataclass('S', [], bases=(ort.InferenceSession,))",
        "helper.make(ort.InferenceSession)",
        "helper.cast(ort.InferenceSession)",
        "import abc\ndef cast(kind): return abc.ABCMeta('S', (kind,), {})\ncast(ort.InferenceSession)",
        "from onnx.reference.reference_evaluator import ReferenceEvaluator\nclass S(ReferenceEvaluator): ...",
        "from onnx.backend.base import BackendRep\nclass S(BackendRep): ...",
        "try:\n    from onnxruntime import InferenceSession as B\nexcept ImportError:\n    B = object\nclass S(B): ...",
    ],
)
def test_a_class_that_may_be_a_runtimes_asks(code: str) -> None:
    assert {one.certain for one in reaches(_MADE + code)} == {False}


@pytest.mark.parametrize(
    "code",
    [
        "from onnxruntime.quantization import CalibrationDataReader\nclass Reader(CalibrationDataReader): ...",
        "import tensorrt as trt\nclass C(trt.IInt8EntropyCalibrator2): ...\nclass L(trt.ILogger): ...",
        "import openvino as ov\nclass A(ov.Op): ...",
        "from tvm.relax.frontend import nn\nclass A(nn.Module): ...",
        "try:\n    from torch.utils.data import Dataset\nexcept ImportError:\n    Dataset = object\nclass A(Dataset): ...",
        "import torch\nBase = torch.nn.Module if hasattr(torch, 'nn') else object\nclass A(Base): ...",
        "class A:\n    class Config: ...\nclass B(A):\n    class Config(A.Config): ...",
        "from torch import nn\ndef block(base):\n    class Block(base): ...\n    return Block\nblock(nn.Module)",
        "P = type('P', (), {'x': 1})",
        "class Wrong(Exception): ...\nError = object\nclass Other(Error): ...",
        "isinstance(s, (ort.InferenceSession, ort.SessionOptions))\nlist(map(ort.InferenceSession, ['m.onnx']))",
        "from dataclasses import field\nfield(default_factory=ort.SessionOptions)",
        "import functools, typing\nfunctools.partial(ort.InferenceSession, 'm.onnx')\ntyping.cast(ort.InferenceSession, s)",
        "SESSIONS: dict[str, ort.InferenceSession] = {}\nSessions = dict[str, ort.InferenceSession]",
        "def load(kind: type[ort.InferenceSession] | None = None) -> tuple[str, ort.InferenceSession]: ...",
    ],
)
def test_a_class_that_is_no_runtimes_is_free(code: str) -> None:
    packages = (*PACKAGES, "tensorrt", "openvino", "tvm", "torch")
    assert reaches(_MADE + code, packages) == []


@pytest.mark.parametrize(
    "code",
    [
        "class T:\n    def patch(self, x=None): self.run = lambda *a: [0]\nt = T()\nt.patch(s)\nt.run()",
        "class T:\n    def patch(self, x): self.run = lambda *a: [0]\ndef f(t): t.patch(s)\nf(T())",
        "o = ort.SessionOptions()\no.intra_op_num_threads = 1\no.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL",
        "import numpy as np\na = np.zeros(3)\na.shape = (3, 1)\ndf.index = np.arange(3)\n[1].index(1)",
        "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.format_coord = lambda x, y: f'{x}'\nax.plot([1])",
        "def style(ax):\n    ax.format_coord = lambda x, y: f'{x}'\n    return ax",
        "import matplotlib.pyplot as plt\ndef style(ax): ax.format_coord = lambda x, y: f'{x}'\nstyle(plt.gca())",
        "def style(ax):\n    ax.note = 'a'\n    ax.size = 3\nstyle(Image.open('a.png'))",
        "class A:\n    def __init__(self, f): self.f = f\n"
        "class B(A):\n    def __init__(self):\n        A.__init__(self, fake)\n        self.g = fake",
        _NET + "x = L()\n" * 600 + "x.post = relu\nx.post(1)",
        "import matplotlib.pyplot as plt\nax = plt.gca()\nax.format_coord = lambda x, y: f'{x}'",
        _NET + "class B:\n    def __init__(self):\n        self.m = L()\n        self.m.act = relu",
        _NET + "layers = {'a': L()}\nlayers['a'].act = relu\nlayers['a'].act(1)",
        _NET + "nets = [L(), L()]\nfor n in nets:\n    n.act = relu\n    n.act(1)",
        _NET + "n = L.make()\nn.act = relu",
        _NET + "def build(): return L()\nm = build()\nm.post = relu\nm.post(1)",
        _NET + "def fuse(m, act): m.act = act\nfuse(L(), relu)",
        "class W:\n    def __init__(self, run):\n        self.run = run\nW(s.run).run(None, {})",
        "import pandas as pd\ndf = pd.read_csv('a.csv')\ndef f(words, d):\n    d.index = 2 * words.index(1)",
        "fake.calls = 0\nfake.original = fake",
        "n = helper.Net()\nn.act = lambda x: x",
        "class A:\n    def f(self):\n        type(self).count = 1\n        self.__class__.n = 2\n        self.g = self.f\n        self.g()",
        "class A: ...\nb = A()\nb.run = fake\nb.run(1)",
        "import argparse\nb = argparse.ArgumentParser().parse_args()\nb.func = fake\nb.func(1)",
        "class P:\n    def __init__(self, t: 'L'): self.t = t\n    def go(self): self.t.act_so = fake\nclass L: ...\nP(L()).go()",
        "def set_up(loader): loader.collate_fn = fake\nset_up(helper.loader)\nlist(map(set_up, []))",
        "def wrap(f):\n    def inner(): ...\n    inner.original = f\n    return inner",
    ],
)
def test_what_is_its_own_a_submission_may_change(code: str) -> None:
    assert reaches(_MADE + code) == []


_FIGURE = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\ndef own(x): return x\n"


@pytest.mark.parametrize(
    ("code", "is_free"),
    [
        ("fig.my_note = own\nfig.my_note(3)", True),
        ("def add(figure): figure.my_note = own\nadd(plt.gcf())", True),
        ("fig.savefig = own", False),
        ("def add(figure): figure.savefig = own\nadd(plt.gcf())", False),
        ("fig._my_note = own", False),
        ("type(fig).my_note = own", False),
        ("from PIL import Image\nim = Image.open('a.png')\nim.crop_to_digit = own", True),
        ("s.my_note = own", False),
        ("fig.my_note = s.run\nfor t in (s, fig): t.my_note = own", False),
    ],
)
def test_a_name_that_no_package_asks_for_is_the_authors_own(code: str, is_free: bool) -> None:
    assert (reaches(_MADE + _FIGURE + code) == []) is is_free


def test_a_function_of_another_file_is_one_of_the_authors() -> None:
    code = "from PIL import Image\nfrom a import f\ndef patch(im):\n    im.load = f\nlist(map(patch, [Image.open('a.png')]))"
    assert list(scanned({"a.py": "def f(x): return x", "b.py": code})) == ["b.py"]


_RUNTIME = (
    "import onnxruntime as ort\ns = ort.InferenceSession('m.onnx')\ndef fake(*a): return [1]\ndef g(): return fake\n"
)


@pytest.mark.parametrize(
    ("code", "is_free"),
    [
        ("s.run = g()", False),
        ("L = [fake]\ns.run = L[0]", False),
        ("s.run = fake if 1 else s.run", False),
        ("class C:\n    def __call__(self, *a): return [1]\ns.run = C()", False),
        ("def h(f): s.run = f\nh(fake)", False),
        ("try: raise KeyError(fake)\nexcept KeyError as e: s.run = e.args[0]", False),
        ("setattr(s, 'run', g())", False),
        ("t = {'a': s}\nt['a'].run = g()", False),
        ("o = ort.SessionOptions()\no.intra_op_num_threads = int('1')", True),
        ("o = ort.SessionOptions()\no.log_severity_level = int('1')\nprint(o.log_severity_level)", True),
        ("class T:\n    def __init__(self): self.run = g()\nT().run(1)", True),
    ],
)
def test_what_one_file_replaces_of_a_runtime_another_may_ask_for(code: str, is_free: bool) -> None:
    files = {"helper.py": _RUNTIME + code, "b.py": "from helper import s\nprint(s.run(None, {}))"}
    assert list(scanned(files)) == ([] if is_free else ["helper.py"])


@pytest.mark.parametrize(
    ("code", "is_free"),
    [
        ("from helper import s\ns.run = lambda *a: [1]", False),
        ("from helper import s, g\nt = s\nt.run = g()", False),
        ("from helper import s\ntype(s).run = lambda *a: [1]", False),
        ("import helper\nhelper.s.run = helper.fake", False),
        ("def h(t, f): t.run = f\nimport helper\nh(helper.s, helper.g())", False),
        ("def h(t, f): setattr(t, 'run', f)", False),
        ("def note(t, names):\n    t.input_names = sorted(names)\n    print(t.input_names)", True),
        ("from helper import s\ns.note = s.note or max(3, 4)", True),
        ("from helper import Own\nown = Own()\nown.run = lambda: 1\nOwn.run = max", True),
        ("import argparse, helper\nargs = argparse.ArgumentParser().parse_args()\nargs.run = helper.g()", True),
    ],
)
def test_a_runtime_that_comes_from_another_file_is_one_there(code: str, is_free: bool) -> None:
    helper = f"{_RUNTIME}class Own:\n    def run(self): return 1\n"
    files = {"helper.py": helper, "b.py": code, "c.py": "from helper import s\nprint(s.run(None, {}))"}
    assert list(scanned(files)) == ([] if is_free else ["b.py"])


def test_a_package_that_cannot_be_read_may_ask_for_anything() -> None:
    assert may_ask_for("no_such_package", "my_note")
    assert may_ask_for("argparse", "my_note")
    assert not may_ask_for("PIL", "my_note")
    assert may_ask_for("PIL", "load")


def test_a_package_is_read_once_for_all_names(monkeypatch: pytest.MonkeyPatch) -> None:
    may_ask_for("PIL", "load")
    monkeypatch.setattr(Path, "read_bytes", None)
    assert not any(may_ask_for("PIL", f"my_note_{number}") for number in range(300))


def test_values_that_are_made_of_one_another_take_no_long() -> None:
    code = "".join(f"a.x{i % 9} = b.x{i % 8}.f(a.x{i % 7})\nc{i} = a.x{i % 9}.g(b)\n" for i in range(600))
    began = time.process_time()
    reaches(f"def f(a, b):\n    {code}".replace("\n", "\n    "))
    assert time.process_time() - began < 20
