"""Ways round the names of a file: tables that are changed through what looks at them, texts and data that are run as code."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.code_scan import reaches

KEYS = "T = {'a': 'float32'}\n"
READ = "\ngetattr(x, T['a'])"
RUN = "__import__('os').system('id') or int"
DISPATCH = "import functools\nf = functools.singledispatch(print)\n@f.register\n"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        # a list or a dict that is changed through what looks at it
        ("T = ['a', 'b']\nmax(T, [])[0] = y\ngetattr(x, T[0])", "named while it runs"),
        ("T = ['a', 'b']\nmin([], T)[0] = y\ngetattr(x, T[0])", "named while it runs"),
        ("def f():\n    T = ['a', 'b']\n    max(T, [])[0] = y\n    getattr(x, T[0])", "named while it runs"),
        (f"{KEYS}T.keys().mapping | E(){READ}", "named while it runs"),
        (f"{KEYS}v = T.values(){READ}", "named while it runs"),
        (f"{KEYS}f(T.items()){READ}", "named while it runs"),
        (f"{KEYS}f(T.get){READ}", "named while it runs"),
        (f"{KEYS}T.get.__reduce__()[1][0]['a'] = y{READ}", "named while it runs"),
        (f"{KEYS}'a' in T in E(){READ}", "named while it runs"),
        # from any value to getattr, modules and functions
        ("g = 'a'.upper.__reduce__()[0]", "insides"),
        ("g = 'a'.upper.__reduce_ex__(2)[0]", "insides"),
        ("getattr(x, f'__red{y}')", "named while it runs"),
        ("f.__closure__[0]", "insides"),
        ("f.__annotations__ = y", "insides"),
        ("type(f).__dict__[y].__get__(f)", "insides"),
        ("import inspect\nclass A: __module__ = 'os'\ninspect.getmodule(A)", "insides"),
        ("import string\nclass F(string.Formatter): ...", "insides"),
        ("from string import Formatter as F", "insides"),
        ("'{0.__globals__[os].environ}'.format(f)", "insides"),
        ("'{0[a].__code__}'.format_map(x)", "insides"),
        # annotations that singledispatch would run
        (f"{DISPATCH}def g(x: 'eval(y)'): ...", "code that is made"),
        ("from functools import singledispatchmethod as s\nclass A:\n    f = s(print)\n    @f.register\n"
         "    def g(self, x: T): ...", "code that is made"),
        ("from functools import *\nf = singledispatch(print)\nf.register(g)", "code that is made"),
        ("import functools\nf = getattr(functools, 'single' + 'dispatch')(print)", "named while it runs"),
        ("import inspect\ninspect.signature(g, eval_str=True)", "code that is made"),
        ("import inspect\ninspect.get_annotations(g, eval_str=x)", "code that is made"),
        ("import inspect\ninspect.signature(g, **x)", "code that is made"),
        # runners and loaders
        ("import numpy as np\nnp.testing.runstring(x, {})", "insides"),
        ("import numpy as np\nnp.testing.measure(x)", "code that is made"),
        ("from numpy.testing import rundocs", "insides"),
        ("from numpy.testing import *", "code that is made"),
        ("import numpy as np\nnp.testing._private.utils.measure(x)", "code that is made"),
        ("import numpy as np\ngetattr(np.testing, y)(x)", "named while it runs"),
        ("import numpy as np\nf(np.testing)", "code that is made"),
        ("import numpy as np\nLOADERS = [np.load]\nLOADERS[0](p, None, True)", "stored as data"),
        ("from numpy import load\nf(load)", "stored as data"),
        ("import numpy as np\nlist(map(np.load, p, [None], [True]))", "stored as data"),
        ("import numpy as np\nlist(map(np.load, *x))", "stored as data"),
        ("import numpy as np\nnp.lib.format.read_array(f, True)", "stored as data"),
        ("from numpy.lib.npyio import load as f\nf(p, None, True)", "stored as data"),
        # readers that ask the network
        ("import xml.sax\nxml.sax.parse(x, y)", "the network"),
        ("from xml.sax import make_parser", "the network"),
        ("import xml.dom.pulldom as p", "the network"),
        ("import numpy as np\nnp.DataSource()", "the network"),
        ("import onnx.hub", "the network"),
        ("np.loadtxt('https://a.example/b')", "the network"),
        ("plt.style.use('http:' + '//a.example/b')", "the network"),
        ("x.read_csv(filepath_or_buffer=f'ftp://{host}/b')", "the network"),
    ],
)  # fmt: skip
def test_what_roundabout_code_reaches_for(code: str, what: str) -> None:
    reacheds = reaches(code)
    assert any(what in reached.what for reached in reacheds), reacheds


@pytest.mark.parametrize(
    "code",
    [
        "T = ['a', 'b']\nprint(max(T), min(T, key=len))\ngetattr(x, T[0])",
        f"{KEYS}print(list(T.keys()), sorted(T.items()), 'a' in T.values(), T.get('a')){READ}",
        f"{KEYS}f([v for v in T.values()], T.get('a', 'b').upper(), len(T.items())){READ}",
        "class A(B):\n    def __init__(self):\n        super().__init__()\n        object.__setattr__(self, 'a', type(x).__name__)",
        "print(np.__version__, type(x).__mro__, x.__dict__, f.__doc__, f.__module__, a.__array__(), e.__traceback__)",
        "from string import Template, ascii_letters\nimport logging\nlogging.Formatter('%(name)s')",
        "'{0.shape} {1[key]} {a.name:>3} {__name__}'.format(x, y, a=z)",
        "def f(x: 'np.ndarray', y: 'list[Path] | None' = None) -> 'A': ...\nT = make('a')\ndef g(x: T, y: make('b')) -> f'{x}': ...",
        "import inspect\nprint(inspect.signature(f).parameters, inspect.signature(f, eval_str=False))",
        "import numpy as np\nnp.testing.assert_allclose(x, y)\nfrom numpy.testing import assert_array_equal, suppress_warnings",
        "import numpy as np\nimages = [np.load(p) for p in paths]\nlabels = list(map(np.load, paths))",
        "import xml.etree.ElementTree as ET\nfrom xml.sax.saxutils import escape\nfrom xml.dom import minidom\nminidom.parse('a.xml')",
        "print('https://a.example')\nfrom urllib.parse import urlparse, parse_qs\nparse_qs('http://a.example?b=1')\n"
         "f(url='https://b.example')",
    ],
)  # fmt: skip
def test_code_that_is_read_as_it_stands(code: str) -> None:
    assert reaches(code) == []
