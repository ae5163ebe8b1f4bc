"""Calls that run code because of what they are given: texts, or data that is unpickled."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from assay_zoo.artifacts.reached import Unread

_PICKLED = {
    "numpy.load": 2, "numpy.lib.npyio.load": 2, "numpy.lib._npyio_impl.load": 2, "numpy.lib.format.read_array": 1,
    "numpy.lib._format_impl.read_array": 1, "numpy.lib.npyio.NpzFile": 2, "numpy.lib._npyio_impl.NpzFile": 2,
}  # fmt: skip
"""These unpickle where this argument says so."""
LOADERS = tuple(loader for loader in _PICKLED if not loader.endswith("NpzFile"))
"""They are called by their own names, so that the argument can be read."""
_EVALUATING = ("inspect.signature", "inspect.get_annotations", "inspect.Signature.from_callable")


_CALLING = re.compile(r"@\w+\s*\.[\w\s.]*\(|__\w+__")
"""In a text that pandas evaluates: a call of what the caller has."""


def code_by_arguments(call: ast.Call, name: str, path: str) -> Iterator[str]:
    """`name` is what is called, `path` where it comes from, if that is known."""
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    given = [words.get("allow_pickle"), *(call.args[_PICKLED[path] :][:1] if path in _PICKLED else ())]
    unread = (name == "load" and None in words) or (path in _PICKLED and _starred(call))
    yield from _where_true("code that is stored as data (allow_pickle)", given, unread=unread)
    if name in ("eval", "query") and any(
        _CALLING.search(str(arg.value)) for arg in call.args[:1] if isinstance(arg, ast.Constant)
    ):
        yield Unread(f"code in a text ({name})")
    unread = path in _EVALUATING and None in words
    yield from _where_true("code that is made while it runs (eval_str)", [words.get("eval_str")], unread=unread)


def mapped(call: ast.Call) -> ast.expr | None:
    """The function that `map` gives one argument each time."""
    return call.args[0] if len(call.args) == 2 and not _starred(call) else None


def _where_true(what: str, given: Sequence[ast.expr | None], *, unread: bool) -> Iterator[str]:
    """`what` where one of the values is true, or may be."""
    asked = [expr for expr in given if expr is not None]
    if any(isinstance(expr, ast.Constant) and expr.value for expr in asked):
        yield what
    elif unread or not all(isinstance(expr, ast.Constant) for expr in asked):
        yield Unread(what)


def _starred(call: ast.Call) -> bool:
    return any(isinstance(arg, ast.Starred) for arg in call.args)
