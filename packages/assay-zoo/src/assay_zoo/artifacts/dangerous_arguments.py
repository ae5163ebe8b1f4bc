"""Calls that run code because of what they are given: texts, or data that is unpickled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_PICKLED = {
    "numpy.load": 2, "numpy.lib.npyio.load": 2, "numpy.lib._npyio_impl.load": 2, "numpy.lib.format.read_array": 1,
    "numpy.lib._format_impl.read_array": 1, "numpy.lib.npyio.NpzFile": 2, "numpy.lib._npyio_impl.NpzFile": 2,
}  # fmt: skip
"""These unpickle where this argument says so."""
LOADERS = tuple(one for one in _PICKLED if not one.endswith("NpzFile"))
"""They are called by their own names, so that the argument can be read."""
_EVALUATING = ("inspect.signature", "inspect.get_annotations", "inspect.Signature.from_callable")


def code_by_arguments(call: ast.Call, name: str, path: str) -> Iterator[str]:
    """`name` is what is called, `path` where it comes from, if that is known."""
    words = {one.arg: one.value for one in call.keywords}
    placed = path in _PICKLED and any(not _is_false(one) for one in call.args[_PICKLED[path] :][:1])
    unread = (name == "load" and None in words) or (path in _PICKLED and _starred(call))
    if _may_be_true(words, "allow_pickle") or placed or unread:
        yield "code that is stored as data (allow_pickle)"
    if _may_be_true(words, "eval_str") or (path in _EVALUATING and None in words):
        yield "code that is made while it runs (eval_str)"


def mapped(call: ast.Call) -> ast.expr | None:
    """The function that `map` gives one argument each time."""
    return call.args[0] if len(call.args) == 2 and not _starred(call) else None


def _may_be_true(words: dict[str | None, ast.expr], key: str) -> bool:
    return key in words and not _is_false(words[key])


def _starred(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
