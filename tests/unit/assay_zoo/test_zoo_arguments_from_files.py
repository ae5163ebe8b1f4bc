"""Parsers of arguments that may read arguments from any file."""

from __future__ import annotations

import pytest

from scanned_code import scanned

_NONE = "None, None, None, None, [], argparse.HelpFormatter, '-'"


@pytest.mark.parametrize(
    "code",
    [
        "argparse.ArgumentParser(fromfile_prefix_chars='@')",
        f"argparse.ArgumentParser({_NONE}, '@')",
        f"from argparse import ArgumentParser as P\nP({_NONE}, '@')",
        "p = argparse.ArgumentParser()\np.fromfile_prefix_chars = '@'",
        "p = argparse.ArgumentParser()\nsetattr(p, 'fromfile_prefix_chars', '@')",
        "K = {'fromfile_prefix_' + 'chars': '@'}\nargparse.ArgumentParser(**K)",
        "argparse.ArgumentParser(**dict([('fromfile' + '_prefix_chars', '@')]))",
        f"A = [{_NONE}, '@']\nargparse.ArgumentParser(*A)",
        f"class P(argparse.ArgumentParser):\n    def __init__(self): super().__init__({_NONE}, '@')\nP()",
        f"class P(argparse.ArgumentParser): ...\nclass Q(P): ...\nQ({_NONE}, '@')",
        f"import functools\nfunctools.partial(argparse.ArgumentParser, {_NONE}, '@')()",
        f"import functools\nmake = functools.partial(argparse.ArgumentParser)\nmake({_NONE}, '@')",
    ],
)
def test_arguments_from_files_ask(code: str) -> None:
    assert list(scanned({"a.py": f"import argparse\n{code}\n"})) == ["a.py"]


@pytest.mark.parametrize(
    "code",
    [
        "p = argparse.ArgumentParser('a', None, __doc__, formatter_class=argparse.HelpFormatter, prefix_chars='-+')\np.add_argument('n')",
        "class P(argparse.ArgumentParser):\n    def __init__(self, *a, **k): super().__init__(*a, **k)\nP(description='a')",
        "import functools\nmake = functools.partial(argparse.ArgumentParser, add_help=False)\nmake(prog='a')",
        "def add(subs, **k): return subs.add_parser('a', help='b', **k)\nadd(argparse.ArgumentParser().add_subparsers())",
        "def many(a, b, c, d, e, f, g, h): return a\nmany(1, 2, 3, 4, 5, 6, 7, 8)\nmax(1, 2, 3, 4, 5, 6, 7, 8)",
    ],
)
def test_a_parser_of_its_own_arguments_is_free(code: str) -> None:
    assert scanned({"a.py": f"import argparse\n{code}\n"}) == {}
