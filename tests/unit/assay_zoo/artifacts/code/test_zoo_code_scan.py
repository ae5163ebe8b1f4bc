"""What code of a submission reaches for. The many ways there are in `code/`; here are what is certain, and what takes no time."""

from __future__ import annotations

import time

import pytest

from assay_zoo.artifacts.code.code_scan import reaches


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("import socket", "the network"),
        ("import os as o\no.system('x')", "other processes (os.system)"),
        ("from os import environ\nx = dict(environ)", "the environment"),
        ("import os\nint(os.environ['HF_TOKEN'])", "the environment"),
        ("eval(x)  # nosec", "code that is made"),
        ("open('/etc/passwd')", "files outside"),
        ("Path('/', 'etc', 'passwd')", "files outside"),
        ("Path.home()", "files outside"),
        ("from pathlib import Path\nPath(__file__).parents[2]", "above the folder"),
        ("np.load('x.npy', allow_pickle=True)", "stored as data"),
        ("np.load('x.npy', None, True)", "stored as data"),
        ("import glob\nglob.os.system('x')", "the module os through another"),
        ("print.__self__.eval", "insides"),
        ("'{0.__globals__[os].environ}'.format(f)", "insides"),
        ("np.loadtxt('https://a.example/b')", "the network"),
        ("from pathlib import Path\nPath(__file__).write_text(x)", "its own file"),
        ("import matplotlib\nmatplotlib.use('WebAgg')", "the network"),
        ("import timeit\ntimeit.timeit('x')", "code that is made"),
    ],
)
def test_what_certainly_leaves_the_submission(code: str, what: str) -> None:
    found = reaches(code)
    assert any(what in each.what.replace("of its own file", "its own file") and each.certain for each in found), found
    assert found[-1].line == len(code.splitlines())


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("getattr(x, y)", "write the name of the attribute"),
        ("def f(key):\n    for key in ('a',): getattr(x, key)", "write the name of the attribute"),
        ("for key in ('a', 'b'): ...\nfor key in y: getattr(x, key)", "write the name of the attribute"),
        ("from helper import *\nfor key in ('a',): getattr(x, key)", "write the name of the attribute"),
        ("import numpy as np\nf(np)", "call the function of it that is meant"),
        ("x = chr(47) + y", "write it as one"),
        ("x.y = f", "give it a number or a text"),
        ("import onnxruntime as ort\nclass A(ort.InferenceSession): ...", "a class derived from"),
        ("from torch import nn\nclass A(nn.Linear): ...", "take a class of your own"),
        ("x = 'helper.py'", "a file of code"),
    ],
)
def test_what_is_not_plain_asks_and_says_what_to_write(code: str, what: str) -> None:
    found = reaches(code, ("torch", "numpy", "onnxruntime"))
    assert any(what in each.what and not each.certain for each in found), found
    assert not any(each.certain for each in found)


_A_CALL = "def f{0}(x):\n    for key in ('a',): getattr(x, key)\n"


@pytest.mark.parametrize(
    "code",
    [
        "".join(_A_CALL.format(at) for at in range(900)),
        "a0 = 'a'\n" + "".join(f"a{at + 1} = a{at} if c else a{at}\n" for at in range(60)) + "getattr(x, a60)",
        "import numpy as np\n" + "".join(f"w{at} = np.float32\n" for at in range(4000)),
        "this is no Python",
    ],
)
def test_many_names_take_no_time(code: str) -> None:
    begin = time.process_time()
    assert reaches(code) == []
    assert time.process_time() - begin < 5


@pytest.mark.parametrize(
    "text",
    ["'a' + 'b'", "'%s.txt' % 'a'", "'{:>9}'.format('a')", "'%99999d' % 'a'", "'a' * 10**9", "'a'[9]"],
)
def test_a_text_in_parts_is_read_as_one(text: str) -> None:
    assert reaches(f"x = {text}") == []


@pytest.mark.parametrize(
    "text",
    [
        "'/e' + 'tc/passwd'",
        "'{}/etc/passwd'.format('')",
        "f'{\"/etc\"}/passwd'",
        "'dwssap/cte/'[::-1]",
        "'|etc|x'.replace('|', '/')",
    ],
)
def test_a_path_outside_in_parts(text: str) -> None:
    assert any("files outside" in each.what for each in reaches(f"x = open({text})"))
