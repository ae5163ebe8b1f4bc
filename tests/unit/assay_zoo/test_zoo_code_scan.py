"""What code of a submission reaches for: each way to a module, a builtin or a file outside, and code that has none of them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from assay_zoo.artifacts.code_scan import reaches
from assay_zoo.artifacts.inspect_source import inspect_source


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import socket", "the network"),
        ("from urllib.request import urlopen", "the network"),
        ("import subprocess as s", "other processes"),
        ("import os as o\no.system('x')", "other processes"),
        ("getattr(os, 'sys' + 'tem')('ls')", "other processes (os.system)"),
        ("import os\ngetattr(os, x)('ls')", "named while it runs"),
        ("def getattr(m, n): ...\nimport os\ngetattr(os, 'path')", "os under a name"),
        ("import os\nx = os.environ['TOKEN']", "the environment"),
        ("from os import getenv", "the environment"),
        ("eval(x)  # nosec", "code that is made"),
        ("import importlib\nimportlib.import_module(x)", "a module whose name"),
        ("open('/etc/passwd')", "files outside"),
        ("Path.home()", "files outside"),
        ("np.load('x.npy', allow_pickle=True)", "stored as data"),
        ("import torch\ntorch.load('x')", "B614"),
        ("import tarfile\ntarfile.open('x').extractall()", "B202"),
        ("().__class__.__subclasses__()", "insides"),
        ("import glob\nglob.os.system('x')", "the module os through another"),
        ("import sys\nsys.modules['os']", "insides"),
        ("from os import *", "more of os"),
        ("import os\nf = os", "os under a name"),
        ("run = eval", "code that is made"),
        ("__builtins__['eval']", "insides"),
        ("import builtins", "more than files and numbers"),
        ("import sqlite3", "more than files and numbers"),
        ("import importlib\nimportlib.import_module('socket')", "the network"),
        ("import timeit\ntimeit.timeit('x')", "code that is made"),
        ("place = '/etc/passwd'", "files outside"),
        ("open(file='../x')", "files outside"),
        ("np.load('x.npy', None, True)", "stored as data"),
        ("np.ctypeslib", "the module ctypeslib through another"),
        ("import importlib\nm = importlib.import_module('os')", "a module under a name"),
        ("import importlib\nimportlib.import_module(name='os')", "a module under a name"),
        ("import importlib\nimportlib.import_module('.request', 'urllib')", "the network"),
        ("import importlib as i\nf = i.import_module", "named while it runs"),
        ("from importlib import import_module as f\nf(x)", "a module whose name"),
        ("import importlib\nimportlib.__import__('os')", "insides"),
        ("from pathlib import os as o", "the module os through another"),
        ("from codecs import builtins as b", "the module builtins through another"),
        ("import random\nrandom._os.system('x')", "through another"),
        ("import enum\nenum.bltns", "the module bltns through another"),
        ("from enum import bltns as math", "the module bltns through another"),
        ("import concurrent.futures\nconcurrent.futures.process.mp", "other processes"),
        ("import unittest.signals as s\ns.signal", "the module signal through another"),
        ("from concurrent.futures import ProcessPoolExecutor", "other processes"),
        ("import pathlib\ngetattr(pathlib, 'o' + 's').system('x')", "the module os through another"),
        ("import pathlib\ngetattr(pathlib, 'os').system('x')", "the module os through another"),
        ("g = getattr", "named while it runs"),
        ("import pathlib\npathlib.__dict__['os']", "insides"),
        ("import pathlib\nvars(pathlib)['os']", "insides"),
        ("import pathlib\nfor m in [pathlib]: vars(m)['os']", "pathlib under a name"),
        ("import pathlib\np = pathlib\np.__dict__", "insides"),
        ("import json\ngetattr(json.dumps, '__glo' + 'bals__')", "insides"),
        ("import json\ngetattr(json.dumps, '__globals__')", "insides"),
        ("import operator\noperator.attrgetter('os.system')(x)", "the module os through another"),
        ("from operator import attrgetter as a\na('o' + 's')(x)", "the module os through another"),
        ("import importlib.metadata\nimportlib.metadata.EntryPoint('a', 'os:system', 'g').load()", "insides"),
        ("from importlib.metadata import EntryPoint as E", "insides"),
        ("import logging.config\nlogging.config.dictConfig({})", "code from elsewhere"),
        ("from logging import handlers", "the network"),
        ("from unittest import mock", "code from elsewhere"),
        ("import timeit\ntimeit.timeit(stmt='x')", "code that is made"),
        ("from timeit import timeit as t\nt(setup=x)", "code that is made"),
        ("import cProfile\ncProfile.run('x')", "code that is made"),
        ("print.__self__.eval", "insides"),
        ("match x:\n    case object(os=o): pass", "the module os through another"),
        ("def f(pathlib): ...\ndef g(x=lambda os: 0): os.system('x')", "other processes"),
        ("np.load(f, **{'allow_pickle': True})", "stored as data"),
        ("from concurrent.futures import *", "other processes"),
        ("from operator import *\nattrgetter(x)(y)", "named while it runs"),
        ("import uuid\nuuid._get_command_stdout('id')", "insides"),
        ("import os\nos.path.join(os.pardir, 'x')", "files outside"),
        ("for key in ('a', '__globals__'): getattr(x, key)", "insides"),
        ("for key in ('a', 'b'): ...\nfor key in y: getattr(x, key)", "named while it runs"),
        ("key = 'a'\ndef f(key): return getattr(x, key)", "named while it runs"),
        ("key = 'a'\nkey += 'b'; getattr(x, key)", "named while it runs"),
        ("def f(glob):\n    import glob\n    g(glob)", "glob under a name"),
        ("import glob\ndef f(glob):\n    def g():\n        global glob\n        h(glob)", "glob under a name"),
        ("getattr(*x)", "named while it runs"),
        ("getattr(x, f'__glo{y}')", "named while it runs"),
        ("getattr(x, '%s' % y)", "named while it runs"),
        ("getattr(x, '__{}__'.format('globals'))", "named while it runs"),
        ("getattr(x, '__glo' + 'bals__')", "insides"),
        ("import pathlib\ngetattr(pathlib, f'o{y}')", "named while it runs"),
        ("import os\ngetattr(os, f'spawn{y}')", "named while it runs"),
        ("keys = ['a']\nkeys.append(y)\nfor key in keys: getattr(x, key)", "named while it runs"),
        ("keys = ['a']\nkeys[0] = y\nfor key in keys: getattr(x, key)", "named while it runs"),
        ("keys = ['a']\nchange(keys)\nfor key in keys: getattr(x, key)", "named while it runs"),
        ("keys = ['a']\nother = keys\nfor key in keys: getattr(x, key)", "named while it runs"),
        ("keys = {'a': 'b'}\nkeys['c'] = y\ngetattr(x, keys[z])", "named while it runs"),
        ("def len(x): x.append(y)\nkeys = ['a']\nlen(keys)\nfor key in keys: getattr(x, key)", "named while it runs"),
        ("def f():\n    keys = {'a': '__globals__'}\n    getattr(x, keys[z])", "insides"),
        ("for a, b in [('a', '__globals__')]: getattr(x, b)", "insides"),
        ("for a, b in [('a', 'b'), y]: getattr(x, b)", "named while it runs"),
        ("key = 'a'\nfrom helper import *\ngetattr(x, key)", "named while it runs"),
        ("def f(key):\n    for key in ('a', 'b'): ...\n    getattr(x, key)", "named while it runs"),
        (
            "def f():\n    key = 'a'\n    def g():\n        nonlocal key\n        key = y\n    getattr(x, key)",
            "named while it runs",
        ),
        ("key = z\ndef f():\n    def g():\n        key = 'a'\n    getattr(x, key)", "named while it runs"),
        (
            "def f():\n    global key\n    key = 'a'\n    getattr(x, key)\nkey = z\ngetattr(x, key)",
            "named while it runs",
        ),
        (
            "NAMES = ['a']\ndef f(y): NAMES.append(y)\ndef g():\n    for key in NAMES: getattr(x, key)",
            "named while it runs",
        ),
        (
            "def f():\n    len = g\n    keys = ['a']\n    len(keys)\n    for key in keys: getattr(x, key)",
            "named while it runs",
        ),
        ("key = 'a' if y else z\ngetattr(x, key)", "named while it runs"),
        ("key = 'a'\nkey = key + key\ngetattr(x, key)", "named while it runs"),
        ("import of_the_submission as o\no.KEY = '__globals__'", "another file"),
        ("import of_the_submission as o\nchange(o)", "of_the_submission under a name"),
        ("import of_the_submission as o\nsetattr(o, 'KEY', '__globals__')", "another file"),
        # another file can change a list, a set or a dict of this one
        ("T = ['a', 'b']\ngetattr(x, T[i])", "named while it runs"),
        ("T = {'a': 'b'}\ngetattr(x, T.get(i, 'c'))", "named while it runs"),
        ("T = ['a', 'b']\ndef f():\n    for key in T: getattr(x, key)", "named while it runs"),
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
        ("key = z\ndef f():\n    [0 for key in ('a',)]\n    getattr(x, key)", "named while it runs"),
        ("np.load(*x)", "stored as data"),
        ("open('test_data_set_0/../../../../etc/passwd')", "files outside"),
        ("open(b'/etc/passwd')", "files outside"),
        ("p = '//etc/passwd'", "files outside"),
        ("p = '/./etc/passwd'", "files outside"),
        ("p = '/e' + 'tc/passwd'", "files outside"),
        ("Path('/', 'etc', 'passwd')", "files outside"),
        ("Path('x') / '/' / 'etc'", "files outside"),
        ("import os\nos.path.join(os.sep, 'etc')", "files outside"),
        ("open(f'/{x}')", "files outside"),
        ("open('/opt/Conv_output_0')", "files outside"),
    ],
)
def test_what_code_reaches_for(code: str, what: str) -> None:
    found = reaches(code)
    assert any(what in told for _, told in found)
    assert found[-1][0] == len(code.splitlines())


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos.environ['OMP_NUM_THREADS'] = '1'\nprint(os.path.join('a', 'b'))",
        "from urllib.parse import quote",
        "import numpy as np\nx = np.load('images.npy')",
        "import json\nwith open('metrics.json', 'w') as file:\n    json.dump({}, file)",
        "import hashlib, tempfile, pathlib, time, random",
        "import timeit\ntimeit.timeit(lambda: f(x))\nimport importlib\nimportlib.import_module('numpy')",
        "import os, sys\nsys.path.append('scripts')\nos.makedirs('out', exist_ok=True)\nprint('see /usr/bin in ../x')",
        '"see ../README.md"\nimport platform\nplatform.system()',
        "import configparser, stat, filecmp, optparse, fileinput, contextvars, cProfile, pstats, ipaddress",
        "import onnx\nm = onnx.load('model.onnx', None, True)",
        "import numpy as np\nnp.repeat('cat', 3)\nnp.load('x.npy', None, False)",
        "session.run(['/opt/Conv_output_0'], {})\nprint('~')",
        "import os\np = os.path.join(os.path.dirname(__file__), 'a/b.npy')\nprint('/'.join(['a', 'b']), 'a/...')",
        "import time, string\ndef f(time, string=1):\n    return time * string\nprint(time.time())",
        "import importlib.metadata\nprint(importlib.metadata.version('numpy'))",
        "from timeit import repeat\ndef f(): ...\nrepeat(f, number=3)",
        "import os, re, collections.abc, concurrent.futures\nre.compile('x')\nconcurrent.futures.ThreadPoolExecutor(2)",
        "import argparse\na = argparse.ArgumentParser().parse_args()\nprint(vars(a), getattr(a, 'x', 1), a.__dict__)",
        "import xml.etree.ElementTree as ET\nET.parse('a.xml')\nfrom pathlib import Path\nPath('a') / 'b'",
        "from math import *\nfrom typing import *\nfrom dataclasses import *\nprint(sin(pi))",
        "for key in ('a', 'b'):\n    getattr(x, key)\n[getattr(x, name) for name in ['a']]",
        "NAMES = ('a', 'b')\nprint(len(NAMES), 'a' in NAMES)\nfor name in NAMES: getattr(x, name)",
        "import numpy as np\ngetattr(np, {'tensor(float)': 'float32', 'tensor(int64)': 'int64'}[kind])",
        "import numpy as np\ndef f(kind):\n    dtypes = {1: 'float32'}\n    getattr(np, dtypes.get(kind, 'float64'))",
        "import numpy as np\ngetattr(np, f'float{bits}')\ngetattr(np, 'int' + str(bits))",
        "for i in range(4):\n    getattr(self, f'layer{i}')\n    getattr(self, 'conv%d' % i)\n    getattr(self, 'bn{}'.format(i))",
        "for name, weight in [('conv', 1), ('fc', 2)]: getattr(x, name)",
        "for i, name in enumerate(('a', 'b')): getattr(x, name)",
        "for name, other in zip(['a'], ['b']): getattr(x, name).y = getattr(z, other)",
        "FIELDS = (('mean', 'a'), ('std', 'b'))\nfor key, field in FIELDS: setattr(x, key, getattr(y, field))",
        "for key, field in {'mean': 'a', 'std': 'b'}.items(): setattr(x, key, getattr(y, field))",
        "def f():\n    names = ['a', 'b']\n    return [getattr(x, name) for name in names]",
        "from PIL import Image\ngetattr(Image, 'LANCZOS' if new else 'ANTIALIAS')\nImage.MAX_IMAGE_PIXELS = None",
        "metrics = {name: getattr(result, name) for name in sorted(['top1', 'top5'])}",
        "NAMES = ('a', 'b')\ndef f(key): ...\ndef g():\n    for key in NAMES: getattr(x, key)",
        "def f(key): ...\ndef h():\n    key = 'c'\n    getattr(x, key)",
        "import of_the_submission\nfrom of_the_submission import SIZE, resize\nf(resize, SIZE)\nprint(of_the_submission.SIZE)",
        "import preprocess\nx = preprocess.preprocess(1)\nfrom config import CFG\ngetattr(CFG, 'size')",
        "from helper import metric\nmetric.update(1)\nfrom config import cfg\ncfg.size = 224\nsetattr(cfg, 'size', 1)",
        "import helper, importlib\nhelper.results.append(1)\ngetattr(helper, 'SIZE', 224)\nprint(helper)\nimportlib.reload(helper)",
        "import importlib\nhelper = importlib.import_module('helper')\nhelper.run(1)\nfrom .helper import cfg\ncfg.size = 224",
        "import tensorflow as tf, cv2\ntf.keras.backend.floatx = 1\ngetattr(cv2, 'INTER_AREA')",
        "import operator as op\nfrom operator import methodcaller, itemgetter as at\nmethodcaller('lower')(x)\nop.attrgetter('a.b')(x)",
        "class A:\n    def __setattr__(self, key, value): object.__setattr__(self, key, value)",
        "import os.path as osp, numpy as np\nosp.join('a', 'b')\nf(np)",
        "key: str = 'a'\nf(key=1)\ngetattr(x, key)",
        "import math\nfor name in ('sin', 'cos'): getattr(math, name)(1)",
        "this is no Python",
    ],
)
def test_code_that_only_computes(code: str) -> None:
    assert reaches(code) == []


def test_a_package_that_the_zoo_allows_is_no_other_file() -> None:
    code = "import torch, click as c\nf(torch)\nc.SIZE = 1\nimport torch.nn\ntorch.nn.size = 2"
    assert reaches(code, ("torch", "click")) == []
    assert [line for line, _ in reaches(code)] == [2, 3, 5]


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


def _troubles(tmp_path: Path, source: str) -> list[str]:
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": source}], "metadata": {}}))
    return [
        one["sentence"] for one in inspect_source({"kind": "source", "copy": str(path), "path": "n.ipynb"})["troubles"]
    ]


@pytest.mark.parametrize(
    "magic",
    [
        "%config Application.log_level = __import__('os').system('id')",
        "%config Application.log_level = '{__import__(\"os\")}'",
        "%config A",
        "%load_ext evil_ext",
        "%matplotlib module://evil",
        "%matplotlib {f()}",
        "%%capture {f()}",
        "x = 1 #\u2028!id",
        "x = 1\r!id",
    ],
)
def test_a_magic_that_runs_or_imports_what_is_not_read(tmp_path: Path, magic: str) -> None:
    (told,) = _troubles(tmp_path, magic)
    assert "asks a shell or IPython" in told


@pytest.mark.parametrize(
    "magic",
    [
        "%config InlineBackend.figure_format = 'retina'",
        "%config InlineBackend.print_figure_kwargs = {'bbox_inches': None}",
        "%load_ext autoreload\n%autoreload 2\n%matplotlib inline\n%precision %.3f\n%pprint",
        "%%capture out --no-stderr\nx = 1",
        "x = 1\ry = 2\r\nz = 3",
        "",
    ],
)
def test_a_magic_with_plain_words(tmp_path: Path, magic: str) -> None:
    assert _troubles(tmp_path, magic) == []
