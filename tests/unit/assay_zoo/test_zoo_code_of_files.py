"""What the scan of code makes of several files: what one can change in another, and names that reach `getattr` all the same."""

from __future__ import annotations

import time

import pytest

from assay_zoo.artifacts.code_scan import reaches


@pytest.mark.parametrize(
    ("code", "what"),
    [
        # whoever has a class or a function can change its lists, and a tuple's too
        ("def f():\n    global T\n    T = ['a']\n    getattr(x, T[i])", "named while it runs"),
        ("class A:\n    T = ['a']\n    getattr(x, T[i])", "named while it runs"),
        ("T = ('a',)\nT += (y,); getattr(x, T[i])", "named while it runs"),
        ("T = ('a', ['b'])\ngetattr(x, T[i])", "named while it runs"),
        # and what a name of it stands for
        ("from . import of_the_submission as o\no.KEY = '__globals__'", "another file"),
        ("from .. import of_the_submission as o\nsetattr(o, 'KEY', '__globals__')", "another file"),
        ("from . import of_the_submission as o\nchange(o)", "of_the_submission under a name"),
        ("import of_the_submission as o\no.__setattr__('KEY', '__globals__')", "insides"),
        ("import of_the_submission as o\ngetattr(o, '__setattr__')('KEY', y)", "insides"),
        ("import of_the_submission as o\ngetattr(o, y)", "named while it runs"),
        ("import of_the_submission as o\nfor o.KEY in y: ...", "another file"),
        ("import of_the_submission as o\ndel o.KEY", "another file"),
        ("import a.b\na.b.KEY = '__globals__'", "another file"),
        ("import a\nfrom importlib import reload\nreload(a).KEY = '__globals__'", "another file"),
        ("import importlib\nchange(importlib.import_module('of_the_submission'))", "of_the_submission under a name"),
        ("import importlib\nm = importlib.import_module('a.b')\nm.KEY = '__globals__'", "another file"),
        ("import __main__\n__main__.KEY = '__globals__'", "another file"),
        ("import click\nclick.KEY = '__globals__'", "another file"),
        (
            "def print(x): x.KEY = '__globals__'\nimport of_the_submission as o\nprint(o)",
            "of_the_submission under a name",
        ),
        ("from operator import attrgetter\nattrgetter('__dict__')(x)", "insides"),
        ("match x:\n    case object(__dict__=d): pass", "insides"),
        # or gets from it a module under a name that says nothing
        ("from .of_the_submission import os as o", "the module os through another"),
        ("import os as o", "os under a name that another file can import"),
        ("from operator import methodcaller as m", "operator.methodcaller under a name"),
        ("from of_the_submission import attrgetter\nattrgetter('__sub' + 'classes__')(x)", "insides"),
        # what is left out is not known
        (
            "def f():\n    T = ('__subclasses__',)\n    if y: T = {0: 'relu'}\n    getattr(x, T[0])",
            "insides",
        ),
        ("getattr(x, {'a': 'relu'}.get(*('zz', '__subclasses__')))", "named while it runs"),
        ("getattr(*(x, '__subclasses__'), 'a')", "named while it runs"),
        ("for a, b in zip(*(('x',), ('__subclasses__',)), ('c',)): getattr(x, b)", "named while it runs"),
        ("import operator\noperator.methodcaller('__sub' + 'classes__')(x)", "insides"),
        ("import operator\noperator.methodcaller(y)(x)", "named while it runs"),
        ("import operator\nf = operator.methodcaller", "named while it runs"),
        ("key = z\ndef f(a=getattr(x, key)): key = 'a'", "named while it runs"),
        ("def f(key): [0 for key in ('a',)]; getattr(x, key)", "named while it runs"),
        ("from helper import *\ndef f():\n    [0 for key in ('a',)]\n    getattr(x, key)", "named while it runs"),
        ("'__subclasses__'\n[0 for __doc__ in ('a',)]\ngetattr(x, __doc__)", "named while it runs"),
        ("key = z\ndef f():\n    [0 for key in ('a',)]\n    getattr(x, key)", "named while it runs"),
    ],
)
def test_what_another_file_can_change_or_give(code: str, what: str) -> None:
    reacheds = reaches(code)
    assert any(what in reached.what for reached in reacheds)
    assert reacheds[-1][0] == len(code.splitlines())


@pytest.mark.parametrize(
    "code",
    [
        "from helper import metric\nmetric.update(1)\nfrom config import cfg\ncfg.size = 224\nsetattr(cfg, 'size', 1)",
        "import helper, importlib\nhelper.results.append(1)\ngetattr(helper, 'SIZE', 224)\nprint(helper)\nimportlib.reload(helper)",
        "import importlib\nhelper = importlib.import_module('helper')\nhelper.run(1)\nfrom .helper import cfg\ncfg.size = 224",
        "import tensorflow as tf, cv2\ntf.keras.backend.floatx = 1\ngetattr(cv2, 'INTER_AREA')",
        "import operator as op\nfrom operator import methodcaller, itemgetter as at\nmethodcaller('lower')(x)\nop.attrgetter('a.b')(x)",
        "class A:\n    def __setattr__(self, key, value): object.__setattr__(self, key, value)",
        "import os.path as osp, numpy as np\nosp.join('a', 'b')\nprint(np)",
    ],
)
def test_several_files_that_only_compute(code: str) -> None:
    assert reaches(code) == []


def test_a_package_that_the_zoo_allows_is_no_other_file() -> None:
    code = "import torch, click as c\nhasattr(torch, 'a')\nc.SIZE = 1\nimport torch.nn\ntorch.nn.size = 2"
    assert reaches(code, ("torch", "click")) == []
    assert [reach.line for reach in reaches(code)] == [3, 5]


_A_CALL = "def f{0}(x):\n    key = 'a'\n    return getattr(x, key)\n"


@pytest.mark.parametrize(
    "code",
    [
        "".join(_A_CALL.format(at) for at in range(900)),
        "def f(x):\n    key = 'a'\n" + "    getattr(x, key)\n" * 900,
        "a0 = 'a'\n" + "".join(f"a{at + 1} = a{at} if c else a{at}\n" for at in range(60)) + "getattr(x, a60)",
    ],
)
def test_many_names_take_no_time(code: str) -> None:
    begin = time.process_time()
    assert reaches(code) == []
    assert time.process_time() - begin < 5


def test_a_text_that_doubles_takes_no_room() -> None:
    code = "a0 = 'a'\n" + "".join(f"a{at + 1} = a{at} + a{at}\n" for at in range(60)) + "getattr(x, a60)"
    assert "named while it runs" in reaches(code)[0][1]
