"""What one file of a submission hands on to another: modules under names that say nothing, and tables that another could change."""

from __future__ import annotations

import time

import pytest

from assay_zoo.artifacts.code_scan import reaches
from scanned_code import FUTURES, scanned

CHAIN = "import a\nimport concurrent.futures as h0\n" + "".join(f"h{at + 1} = a.h{at}\n" for at in range(60))
BACKWARDS = "".join(f"h{at + 1} = h{at}\n" for at in reversed(range(60))) + "import concurrent.futures as h0\n"
FIRST = "import concurrent.futures as helper\ndef f():\n    import math as helper"
TABLE = "KINDS = {'tensor(float)': 'float32'}\ndef of(kind): return getattr(x, KINDS[kind])"


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"a.py": "import os as helper", "b.py": "from a import helper\nhelper.system('x')"}, "other processes (os.system)"),
        ({"a.py": "import os as helper", "b.py": "import a\na.helper.system('x')"}, "other processes (os.system)"),
        ({"a.py": FUTURES, "b.py": "from a import helper\nhelper.process.mp"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "import a\na.helper.process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "import a as n\nn.helper.process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "from a import *\nhelper.process"}, "other processes"),
        ({"a.py": FUTURES, "c.py": "from a import *", "b.py": "from c import helper\nhelper.process"}, "other processes"),
        ({"a.py": FUTURES, "c.py": "from a import helper as h", "b.py": "import c\nc.h.process"}, "other processes"),
        ({"a.py": FUTURES, "c.py": "import a", "b.py": "import c\nc.a.helper.process"}, "other processes"),
        ({"k/__init__.py": FUTURES, "b.py": "import k\nk.helper.process"}, "other processes"),
        ({"k/__init__.py": FUTURES, "b.py": "from k import helper\nhelper.process"}, "other processes"),
        ({"k/a.py": FUTURES, "k/b.py": "from .a import helper\nhelper.process"}, "other processes"),
        ({"k/__init__.py": FUTURES, "k/b.py": "from . import helper\nhelper.process"}, "other processes"),
        ({"k/__init__.py": FUTURES, "k/b.py": "from . import helper as h\nh.process"}, "other processes"),
        ({"k/__init__.py": FUTURES, "k/b.py": "from . import *\nhelper.process"}, "other processes"),
        ({"k/a.py": FUTURES, "k/b.py": "from . import a\na.helper.process"}, "other processes"),
        ({"k/a.py": FUTURES, "b.py": "from k import a\na.helper.process"}, "other processes"),
        ({"k/a.py": FUTURES, "b.py": "import k.a\nk.a.helper.process"}, "other processes"),
        ({"k/a.py": FUTURES, "b.py": "import sys\nsys.path.append('k')\nimport a\na.helper.process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "import importlib\nimportlib.import_module('a').helper.process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "import importlib\nm = importlib.import_module('a')\nm.helper.process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "import a\ngetattr(a, 'helper').process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "import a\ngetattr(a, 'hel' + 'per').x"}, "named while it runs"),
        ({"a.py": FUTURES, "b.py": "import a\nfor key in ('helper',): getattr(a, key).x"}, "named while it runs"),
        ({"a.py": FUTURES, "b.py": "import a\ngetattr(a, f'help{y}').x"}, "named while it runs"),
        ({"a.py": FUTURES, "b.py": "import a\nm = a.helper\nm.process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "import a\nf(a.helper)"}, "concurrent.futures under a name"),
        ({"a.py": FUTURES, "b.py": "from a import helper\nf(helper)"}, "concurrent.futures under a name"),
        ({"a.py": FUTURES, "b.py": "import a\na.__dict__['helper']"}, "insides"),
        ({"b.py": FUTURES, "c.py": "import __main__\n__main__.helper.process"}, "other processes"),
        ({"a.py": f"{FUTURES}\nimport math as helper", "b.py": "import a\na.helper.process"}, "other processes"),
        ({"k/a.py": FUTURES, "n/a.py": "import math as helper", "b.py": "import a\na.helper.process"}, "other processes"),
        ({"a.py": "from timeit import timeit as t", "b.py": "from a import t\nt(x)"}, "code that is made"),
        ({"a.py": "import timeit\nt = timeit.timeit", "b.py": "from a import t\nt(x)"}, "code that is made"),
        ({"a.py": "import cProfile\np = cProfile.Profile()", "b.py": "from a import p\np.run(x)"}, "code that is made"),
        ({"a.py": "from numpy import load as f", "b.py": "from a import f\nf('x.npy', None, True)"}, "stored as data"),
        ({"a.py": "import logging as n", "b.py": "from a import n as m\nm.handlers"}, "the network"),
        ({"s/p.py": "", "b.py": "from s import p\np.KEY = '__globals__'"}, "another file"),
        ({"s/p.py": "", "h.py": "from s import p", "b.py": "import h\nh.p.KEY = '__globals__'"}, "another file"),
        ({"s/p.py": "", "h.py": "from s import p", "b.py": "from .h import p as n\nsetattr(n, 'KEY', y)"}, "another file"),
        ({"s/p.py": "", "b.py": "import s\nf(s.p)"}, "s.p under a name"),
        # every meaning of one name with every one of the next, however long the way is
        ({"a.py": FIRST, "b.py": "import math as m\nimport a as m\nrun = lambda: m.helper.process"}, "other processes"),
        ({"a.py": "import json as helper\n" + FIRST, "c.py": "import math as helper",
          "b.py": "import a as m\ndef g():\n    import c as m\nm.helper.process"}, "other processes"),
        ({"a.py": CHAIN, "b.py": "import a\na.h60.process"}, "other processes"),
        ({"a.py": CHAIN, "b.py": "from a import h60 as h\nh.process"}, "other processes"),
        ({"a.py": BACKWARDS, "b.py": "import a\na.h60.process"}, "other processes"),
        ({"a.py": FUTURES, "b.py": "from a import *\nm = helper\nn = m\nn.process"}, "other processes"),
        ({"k/__init__.py": "import concurrent.futures as a", "z/a.py": "import math as process",
          "k/b.py": "from . import a\na.process"}, "other processes"),
        ({"json.py": FUTURES, "b.py": "import json\njson.helper.process"}, "other processes"),
        ({"post/io.py": FUTURES, "utils/io.py": "import math as helper",
          "v.py": "from post.io import helper\nhelper.process"}, "other processes"),
        ({"post/__init__.py": "__path__.insert(0, 'utils')", "utils/io.py": FUTURES, "post/io.py": "import math as helper",
          "v.py": "from post.io import helper\nhelper.process"}, "other processes"),
        ({"k/__init__.py": "if x:\n    from .k import k", "k/k.py": "def k(): ...", "b.py": "from k import k\nf(k)"}, "k.k under a name"),
        # what a file keeps to itself, it may hand on all the same
        ({"a.py": TABLE, "b.py": "from a import KINDS\nKINDS['a'] = '__globals__'"}, "named while it runs"),
        ({"a.py": TABLE, "b.py": "import a\na.KINDS['a'] = '__globals__'"}, "named while it runs"),
        ({"a.py": TABLE, "b.py": "import a\ngetattr(a, 'KINDS')['a'] = '__globals__'"}, "named while it runs"),
        ({"a.py": TABLE, "b.py": "import a\ngetattr(a, 'KIN' + 'DS')['a'] = '__globals__'"}, "a table of another file"),
        ({"a.py": TABLE, "b.py": "import a\ngetattr(a, f'KIN{y}')['a'] = '__globals__'"}, "a table of another file"),
        ({"a.py": TABLE, "b.py": "from a import *\nKINDS['a'] = '__globals__'"}, "named while it runs"),
        ({"a.py": TABLE, "b.py": "import __main__\n__main__.KINDS.update(y)"}, "named while it runs"),
        ({"a.py": TABLE + "\nimport a\na.KINDS.update(y)"}, "named while it runs"),
        ({"a.py": TABLE + "\nKINDS.update(y)"}, "named while it runs"),
        ({"a.py": TABLE + "\nf(KINDS)"}, "named while it runs"),
        ({"a.py": TABLE + "\ndef g(): return KINDS"}, "named while it runs"),
        ({"a.py": TABLE + "\nKINDS['a'] = y"}, "named while it runs"),
        ({"a.py": TABLE + "\nKINDS = y"}, "named while it runs"),
        ({"a.py": TABLE + "\nKINDS |= y"}, "named while it runs"),
    ],
)  # fmt: skip
def test_what_one_file_hands_on_to_another(files: dict[str, str], what: str) -> None:
    texts_by_file = scanned(files)
    assert any(what in text for texts in texts_by_file.values() for text in texts), texts_by_file


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import concurrent.futures\nx.m = concurrent.futures", "concurrent.futures under a name"),
        ("import concurrent.futures\n(m := concurrent.futures).process", "concurrent.futures under a name"),
        ("import concurrent\ngetattr(concurrent, 'futures').process", "other processes"),
        ("import concurrent\nfor key in ('futures',): getattr(concurrent, key).process", "named while it runs"),
        ("import concurrent\nf(getattr(concurrent, 'futures'))", "concurrent.futures under a name"),
        ("class A:\n    import concurrent.futures as m", "in a class"),
        ("class A:\n    if x:\n        import concurrent.futures as m", "in a class"),
        (
            "import concurrent.futures\nclass A:\n    if x:\n        m = concurrent.futures",
            "concurrent.futures under a name",
        ),
        ("import concurrent.futures\nclass A:\n    m = concurrent.futures", "concurrent.futures under a name"),
        ("import concurrent.futures as m\nm.process\nimport math as m", "other processes"),
        *((f"import concurrent\ndef f({given}):\n    {bound}\n    return m.ProcessPoolExecutor(1)", "other processes") for given, bound in (
            ("m=None", "m = concurrent.futures"), ("*m", "m = concurrent.futures"), ("*, m=None", "m = concurrent.futures"),
            ("**m", "import concurrent.futures as m"), ("m", "(m := concurrent.futures)"),
            ("m", "m = concurrent.futures\n    def g():\n        return m.process"))),
        ("import concurrent\ndef f(m):\n    def g():\n        m = concurrent.futures\n        return lambda: m.process", "other processes"),
        ("import concurrent.futures as m\ndef f(m):\n    def m(): ...\n    return m.process", "other processes"),
        ("import concurrent.futures as m\ndef f(m):\n    for m in x: m.process", "other processes"),
        ("import concurrent.futures as m\ndef f(m):\n    with x as m: m.process", "other processes"),
        ("import concurrent.futures as m\ndef f(m):\n    try: ...\n    except x as m: m.process", "other processes"),
        ("import concurrent.futures as m\ndef f(m):\n    match x:\n        case m: m.process", "other processes"),
        ("import concurrent.futures as m\ndef f(m):\n    class m: ...\n    m.process", "other processes"),
        ("import timeit\nf = [timeit.timeit]", "code that is made"),
        ("from timeit import timeit\nf(timeit)", "code that is made"),
    ],
)  # fmt: skip
def test_a_module_that_is_lost_sight_of(code: str, what: str) -> None:
    by_file = scanned({"a.py": code})
    assert any(what in text for texts in by_file.values() for text in texts), by_file


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": TABLE},
        {"a.py": TABLE, "b.py": "from a import of\nof('x')\nkind = 'KIND'"},
        {"a.py": TABLE + "\nprint(len(KINDS), sorted(KINDS), 'a' in KINDS)\nfor k, v in KINDS.items(): print(k, v)"},
        {"a.py": "NAMES = ['top1', 'top5']\nvalues = {name: getattr(result, name) for name in NAMES}"},
        {"a.py": "NAMES: list[str] = ['a', 'b']\ndef f():\n    return [getattr(x, one) for one in NAMES]"},
        {"a.py": "import numpy as np\nTYPES = {1: 'float32'}\ndef f(at): return getattr(np, TYPES.get(at, 'int64'))"},
        {"a.py": "import os.path as osp", "b.py": "from a import osp\nosp.join('a', 'b')"},
        {"a.py": "import numpy as np", "b.py": "from a import *\nnp.zeros(3)\nfrom a import np as n\nn.ones(3)"},
        {"preprocess.py": "def preprocess(x): ...", "v.py": "import preprocess\nmap(preprocess.preprocess, xs)"},
        {"models.py": "def resnet18(): ...", "v.py": "import models\ngetattr(models, f'resnet{n}')()"},
        {"utils.py": "import data", "data.py": "", "v.py": "import numpy\nnumpy.utils.data.x = 1"},
        {"k/__init__.py": "from .a import f", "k/a.py": "def f(): ...", "v.py": "from k import f\ng(f)\nf(1)"},
        {"a.py": "try:\n    import tomllib\nexcept ImportError:\n    tomllib = None", "b.py": "from a import tomllib"},
        {"a.py": "import json as j\nfrom pathlib import Path as P", "b.py": "from a import P, j\nj.loads(P('a').read_text())"},
        {"a.py": "from timeit import default_timer as now", "b.py": "from a import now\nprint(now(), isinstance(x, now))"},
        {"k/__init__.py": "", "k/b.py": "from . import model, time_of\nmodel.run(1)\ntime_of(1)"},
        {"a.py": "class A:\n    def f(self):\n        import json\n        return json.dumps(1)\n    SIZE = 3"},
        {"a.py": "import numpy as np\nif x == 0: ...\n" + "".join(f"elif x == {at}: dtype = np.int{at}\n" for at in range(1, 300))},
        {"a.py": "import matplotlib.pyplot as plt\n" + "".join(f"cmap = plt.cm.{letter}\nf(cmap(1))\n" for letter in "abcdefghi")},
        {"crop/__init__.py": "from .crop import crop", "crop/crop.py": "def crop(x): ...", "v.py": "from crop import crop\nmap(crop, xs)"},
        {"m/__init__.py": "from .m import m", "m/m.py": "class m: ...", "v.py": "import m\nf(m.m)"},
        {"utils/io.py": "import json as reader", "post/io.py": "reader = None", "v.py": "from post.io import reader\nf(reader)"},
        {"net.py": "class Net: ...\nmodel = Net()", "v.py": "from net import model\nwhile x: model = model.module\nmodel.run(1)"},
        {"a.py": "from typing import get_origin as t\ndef f():\n    t = t.a\n    t = t.b\n    t = t.c\n    t = t.d\n    return t.a.b"},
        {"a.py": "def f(globals, vars=None):\n    globals = globals or {}\n    vars = [*vars]\n    return vars, globals['a']"},
        {"a.py": "import math\ndef f(math, np=None):\n    return math.process, np.handlers"},
        {"a.py": "import scipy.special\nsoftmax = scipy.special.softmax\nf(softmax)"},
    ],
)  # fmt: skip
def test_files_that_only_compute_together(files: dict[str, str]) -> None:
    assert scanned(files) == {}


@pytest.mark.heavy
def test_more_than_can_be_read_is_told_where_it_is_met() -> None:
    many = "import math\n" + "".join(f"f = math.a{at}\n" for at in range(300)) + "print(1)\nf(2)"
    rows = [(line, what) for line, what, _ in reaches(many) if "more than can be read: f stands for" in what]
    assert [line for line, _ in rows] == [2], rows
    reacheds = reaches("".join(f"import json as n{at}\n" for at in range(6000)))
    assert [reached.what for reached in reacheds] == ["more than can be read: over 5000 names of modules and tables"]


@pytest.mark.heavy
def test_files_that_have_all_names_of_one_another_are_read_in_little_time() -> None:
    code = "from f0 import *\nfrom . import *\n" + "".join(f"import json as n{at}\n" for at in range(200))
    files = {f"f{at}.py": code.replace(" n", f" n{at}_") + f"n{at}_1.loads(x)" for at in range(40)}
    begin = time.process_time()
    assert scanned(files) == {}
    assert time.process_time() - begin < 4


@pytest.mark.heavy
def test_many_names_of_a_file_are_read_in_little_time() -> None:
    begin = time.process_time()
    assert reaches("import numpy as np\n" + "".join(f"w{at} = np.float32\n" for at in range(4000))) == []
    assert time.process_time() - begin < 4
