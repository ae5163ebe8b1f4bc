"""Names that `getattr` is given from tables of other files and from the variables of loops."""

from __future__ import annotations

import time

import pytest

from scanned_code import FUTURES, scanned

READ = "from names import KEYS\nfor key in KEYS: getattr(x, key)"
TABLE = 'KEYS = ["a", "b"]\n'
CLASS = "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: int = 0\n"
ASKED = "for f in dataclasses.fields(A): getattr(a, f.name)\n"
NAMED = "named while it runs"


@pytest.mark.parametrize(
    "files",
    [
        {"names.py": "KEYS = ('a', 'b')", "b.py": READ},
        {"names.py": TABLE + "print(len(KEYS), ', '.join(KEYS), f'{KEYS}')", "b.py": READ,
         "c.py": "import names\nfor key in names.KEYS: getattr(x, key)"},
        {"names.py": "KEYS = {'f': 'float32'}\nKIND = 'int8'", "b.py": (
            "import numpy as np, names\ngetattr(np, names.KEYS[k])\ngetattr(np, names.KEYS.get(k, 'int64'))\ngetattr(np, names.KIND)")},
        {"k/__init__.py": "from .names import KEYS\n__all__ = ['KEYS', 'names']", "k/names.py": TABLE, "b.py": "from k import KEYS, names\n"
         "getattr(x, KEYS[0])\ngetattr(x, names.KEYS[0])\nimport k.names\nfor key in k.names.KEYS: getattr(x, key)"},
        {"k/names.py": TABLE, "k/b.py": "from .names import KEYS\nfrom . import names as n\ngetattr(x, KEYS[0])\ngetattr(x, n.KEYS[1])"},
        {"names.py": "PAIRS = [('a', 'mean'), ('b', 'std')]", "b.py": "from names import PAIRS\nfor key, one in PAIRS: getattr(x, one)"},
        {"settings.py": "SIZE = 224\nMEAN = [0.5]", "b.py": "import settings\nfor key in ('SIZE', 'MEAN'): print(getattr(settings, key))"},
        {"a.py": "def f(e): return {name: getattr(e, name) for name in ('a', 'b')}\ndef g(e): return [name for name in e]"},
        {"a.py": "for name in ['a', 'b']: print(getattr(x, name))\nfor name, value in y.items(): print(name)"},
        {"a.py": "import os\nos.environ.setdefault('OMP_NUM_THREADS', '1')\nos.environ.update({'A': '1'}, B='2')"},
        {"a.py": "import hashlib, logging\nhashlib.new('sha256')\nlogging.basicConfig(level=getattr(logging, args.level.upper()))"},
        {"k/a.py": "from pathlib import Path\nHERE = Path(__file__).resolve().parent.parent", "b.py": "import os\n"
         "os.path.dirname(__file__)"},
        {"post/io.py": "def reader(): ...", "pre/io.py": "import concurrent.futures as reader",
         "pre/b.py": "from ..post.io import reader\nf(reader)"},
        {"a.py": "'{:.' + str(n) + 'f}'.format(x)\nprint(('{' + name + '}').format(x))\n'{:>{w}}'.format(x, w=3)"},
    ],
)  # fmt: skip
def test_names_that_are_written_somewhere(files: dict[str, str]) -> None:
    assert scanned(files) == {}


@pytest.mark.parametrize(
    ("files", "what"),
    [
        ({"names.py": "KEYS = ('__globals__',)", "b.py": READ}, "insides"),
        ({"names.py": "KEYS = ('a',)\nif x: KEYS = y", "b.py": READ}, NAMED),
        ({"names.py": "KEYS = ('a',)\nKEYS += y", "b.py": READ}, NAMED),
        ({"names.py": "KEYS = ('a',)\ndef f():\n    global KEYS\n    KEYS = y", "b.py": READ}, NAMED),
        ({"names.py": "from os import path as KEYS\nKEYS = ('a',)", "b.py": READ}, NAMED),
        ({"names.py": TABLE + "def f(): return KEYS", "b.py": READ}, NAMED),
        ({"names.py": TABLE, "b.py": READ, "c.py": "from names import KEYS\nKEYS.append(y)"}, NAMED),
        ({"names.py": TABLE, "b.py": READ, "c.py": "from names import KEYS as k\nk[0] = y"}, NAMED),
        ({"names.py": TABLE, "b.py": READ, "c.py": "from names import *\ndef f(k=KEYS): k[0] = y"}, NAMED),
        ({"names.py": TABLE, "b.py": READ, "c.py": "import names\nnames.KEYS[0] = y"}, NAMED),
        ({"names.py": TABLE, "b.py": READ, "c.py": "import names\nnames.KEYS += y"}, NAMED),
        ({"names.py": TABLE, "b.py": READ, "c.py": "from names import KEYS\nlist.append(KEYS, y)\nJ(',').join(KEYS)"}, NAMED),
        ({"conf.py": "cfg = Config()", "cfg.py": TABLE, "b.py": "from conf import cfg\ngetattr(x, cfg.KEYS[0])"}, NAMED),
        ({"names.py": TABLE, "b.py": "import names\ndef f():\n    import other as names\ngetattr(x, names.KEYS[0])"}, NAMED),
        ({"names.py": TABLE, "b.py": READ, "c.py": "import names\ngetattr(names, 'KE' + 'YS')[0] = y"}, "a table of another file"),
        ({"names.py": TABLE + "import evil\nevil.hook(KEYS)", "b.py": READ}, NAMED),
        ({"names.py": "KEYS = ('a',)", "names/__init__.py": "KEYS = (y,)", "b.py": READ}, NAMED),
        ({"names.py": "KEYS = ('a',)", "sub/names.py": "KEYS = ('__glo' 'bals__',)", "b.py": READ}, "insides"),
        ({"names.py": "KEYS = ('a',)", "b.py": "import names\nclass names: KEYS = (y,)\ngetattr(x, names.KEYS[0])"}, NAMED),
        ({"names.py": "KEYS = ('a',)", "c.py": "import names\nclass names: KEYS = (y,)",
          "b.py": "from c import names\ngetattr(x, names.KEYS[0])"}, NAMED),
        ({"a/names.py": "KEYS = ('a',)", "b/names.py": "KEYS = (y,)",
          "a/m.py": "__package__ = 'b'\nfrom .names import KEYS\ngetattr(x, KEYS[0])"}, NAMED),
        ({"a/names.py": "KEYS = ('a',)", "b/a/names.py": "KEYS = ('__globals__',)",
          "a/m.py": "from .names import KEYS\ngetattr(x, KEYS[0])"},
         "insides"),
        ({"post/io.py": FUTURES, "pre/b.py": "from ..post.io import helper\nhelper.process"}, "other processes"),
        # fields of dataclasses
        ({"a.py": CLASS + ASKED}, NAMED),
        ({"a.py": CLASS + "[name for name in [f.name for f in dataclasses.fields(A)] if getattr(a, name)]"}, NAMED),
        # variables of loops, when what they are is asked for later, or changed meanwhile
        ({"a.py": "for k in ('a', 'b'): fs.append(lambda x: getattr(x, k))\nk = y"}, NAMED),
        ({"a.py": "for k in ('a', 'b'): g = (getattr(x, k) for x in z)\nk = y"}, NAMED),
        ({"a.py": "for k in ('a', 'b'):\n    def f(x): return getattr(x, k)\nk = y"}, NAMED),
        ({"a.py": "k = z\nfor k in ('a', 'b'):\n    k = y\n    getattr(x, k)"}, NAMED),
        ({"a.py": "k = z\nfor k in ('a', 'b'):\n    try: ...\n    except E as k: ...\n    getattr(x, k)"}, NAMED),
        ({"a.py": "def f():\n    global k\n    k = y\nfor k in ('a', 'b'):\n    f()\n    getattr(x, k)"}, NAMED),
        ({"a.py": "def f():\n    def g():\n        nonlocal k\n        k = y\n    for k in ('a', 'b'):\n        g()\n"
         "        getattr(x, k)"}, NAMED),
        ({"a.py": "k = z\n[getattr(x, k) if one else (k := 'a') for one in y]"}, NAMED),
        ({"a.py": "for k in ('a', 'b'): ...\nelse:\n    getattr(x, k)\nk = y"}, NAMED),
        # variables that name a program, texts that are put together, what of Python or of a package goes further
        ({"a.py": "import os\nos.environ['PAGER'] = x"}, "other processes"),
        ({"a.py": "import os\nos.environ.setdefault('PYTHONBREAKPOINT', x)"}, "other processes"),
        ({"a.py": "import os\nos.environ.update({'GIT_EDITOR': x})"}, "other processes"),
        ({"a.py": "import os\nos.environ.update(x)"}, "other processes"),
        ({"a.py": "import os\nos.environ[x] = y"}, "other processes"),
        ({"a.py": "import os\nx = os.environ.setdefault('TOKEN', '')"}, "the environment"),
        ({"a.py": "from os import environ", "b.py": "import a\nprint(getattr(a, 'environ'))"}, "the environment"),
        ({"a.py": "from os import environ", "b.py": "from a import *\nx = environ"}, "the environment"),
        ({"a.py": "('{0.__glo' + 'bals__}').format(f)"}, "insides"),
        ({"a.py": "T = '{0.__glo' + 'bals__}'\nT.format(f)"}, "insides"),
        ({"a.py": "('{0.' + x + '}').format(f)"}, NAMED),
        ({"a.py": "str.format('{0.__glo' + 'bals__}', f)"}, "insides"),
        ({"a.py": "g = ('{0.__glo' + 'bals__}').format"}, "insides"),
        ({"a.py": "import importlib.resources\nimportlib.resources.as_file.register(g)"}, "code that is made"),
        ({"a.py": "import pathlib\nisinstance(getattr(pathlib, x), y)"}, NAMED),
        ({"a.py": "import logging\nlogging.basicConfig(stream=getattr(logging, x))"}, NAMED),
        ({"a.py": "import sys\nsys.breakpointhook('id')"}, "insides"),
        ({"a.py": "import inspect, pathlib\ninspect.getclosurevars(pathlib.Path.cwd)"}, "insides"),
        ({"a.py": "import unittest\nunittest.main(module=None, argv=['x', 'os.abort'])"}, NAMED),
        ({"a.py": "from PIL import ImageShow"}, "other processes"),
        ({"a.py": "import numpy as np\nnp.f2py.compile(x)"}, "other processes"),
        ({"a.py": "from matplotlib import cbook\ncbook._check_and_log_subprocess(['id'], x)"}, "insides of a package"),
        ({"a.py": "from pathlib import Path\nPath(__file__).resolve().parent.parent / 'x'"}, "above the folder"),
        ({"k/a.py": "from pathlib import Path\nPath(__file__).parents[2]"}, "above the folder"),
        ({"a.py": "import os\nos.path.dirname(os.path.dirname(os.path.abspath(__file__)))"}, "above the folder"),
    ],
)  # fmt: skip
def test_names_that_may_be_others(files: dict[str, str], what: str) -> None:
    by_file = scanned(files)
    assert any(what in text for texts in by_file.values() for text in texts), by_file


def test_a_long_sum_of_texts_is_read_in_little_time() -> None:
    begin = time.process_time()
    assert scanned({"a.py": "x = " + " + ".join("'a{'" for _ in range(800))}) == {}
    by_file = scanned({"a.py": "x = '{0.__glo' + 'bals__}'" + " + 'b'" * 800})
    assert "insides" in by_file["a.py"][0]
    assert time.process_time() - begin < 4
