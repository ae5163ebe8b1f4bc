"""Texts that are put together of written parts are read as Python makes them; what is too large, or no text, is none."""

from __future__ import annotations

import ast

import pytest

from assay_zoo.artifacts.code.folded_text import FoldedTexts


def _folded(code: str) -> str | None:
    (whole,) = ast.parse(code).body
    assert isinstance(whole, ast.Expr)
    return FoldedTexts(list(ast.walk(whole.value))).of(whole.value)


@pytest.mark.parametrize(
    "code",
    [
        "'a' + 'bc'",
        "'/'.join(['', 'etc', 'passwd'])",
        "'{}/{x}'.format('', x='y')",
        "'%s/%s' % ('', 'b')",
        "'abcdef'[1:-1:2]",
        "'abc'[-1]",
        "f'{chr(47)}etc'",
        "3 * 'ab'",
        "'|etc|'.replace('|', '/')",
    ],
)
def test_written_parts_are_the_text_that_python_makes(code: str) -> None:
    assert _folded(code) == eval(code)


@pytest.mark.parametrize(
    "code",
    [
        "chr(10 ** 30)",
        "chr(999999999999999999999999)",
        "chr(x)",
        "'a' * 100_000",
        "'a' * x",
        "'{:{}}'.format('a', '999999999')",
        "'%*s' % ('99999999', 'a')",
        "'%99999999s' % 'a'",
        "'abc'[::0]",
        "'abc'[9]",
        "'a'.join(parts)",
        "'a'.join()",
        "x + 'a'",
    ],
)
def test_what_is_not_written_or_too_large_is_no_text(code: str) -> None:
    assert _folded(code) is None
