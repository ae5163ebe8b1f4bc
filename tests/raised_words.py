"""Where a source raises an error with a sentence, in place of a note."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

import assay.errors
from assay.errors import AssayError

SEVERAL_WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? [A-Za-z]{2,}")
ERRORS = {name for name, var in vars(assay.errors).items() if isinstance(var, type) and issubclass(var, AssayError)}


def raised_words(source: str | ast.Module, of: Collection[str] = ()) -> Iterator[int]:
    """The lines where an error, or one of these, is raised or made with a text of several words, in place of a note."""
    tree = ast.parse(source) if isinstance(source, str) else source
    raised = {id(node.exc) for node in ast.walk(tree) if isinstance(node, ast.Raise)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (called(node) in of if of else id(node) in raised or called(node) in ERRORS):
            given = [*node.args, *(word.value for word in node.keywords)]
            if any(has_words(argument, spaced=True) for argument in given):
                yield node.lineno


def called(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def has_words(node: ast.expr, *, spaced: bool = False) -> bool:
    """Whether a text in it, formatted ones with what stands between, is of several words; with `spaced`, of several parts."""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            text = "".join(str(value.value) if isinstance(value, ast.Constant) else "xx" for value in part.values)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            text = part.value
        else:
            continue
        if SEVERAL_WORDS.search(text) or (spaced and isinstance(part, ast.JoinedStr) and " " in text):
            return True
    return False
