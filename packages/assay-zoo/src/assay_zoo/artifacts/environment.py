"""Variables of the environment that code sets: a library reads them, but some name a program, which others start."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.reached import Unread
from assay_zoo.artifacts.written_names import WrittenNames

_PROGRAMS = re.compile(r".*(?:PAGER|BROWSER|EDITOR|BREAKPOINT)")


def set_names(node: ast.AST, unused: Collection[int]) -> Iterator[tuple[ast.expr, Sequence[ast.expr | None]]]:
    """A table in which a value is set, and by which names: as in `os.environ[NAME] = ...`, and in `setdefault` where nobody takes
    what it gives, which `unused` are."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        yield node.value, [node.slice]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and id(node) in unused:
        if last_name(node.func) == "setdefault":
            yield node.func.value, node.args[:1]
        elif last_name(node.func) == "update":
            tables = [arg.keys if isinstance(arg, ast.Dict) else [None] for arg in node.args]
            words = [ast.Constant(keyword.arg) if keyword.arg else None for keyword in node.keywords]
            yield node.func.value, [*(name for table in tables for name in table), *words]


def set_for_programs(names: Sequence[ast.expr | None], written: WrittenNames) -> Iterator[str]:
    """Those of `names` that may be of a program to start."""
    for node in names:
        for one in written.of(node) if node is not None else [(None,)]:
            if None in one or _PROGRAMS.fullmatch("".join(part or "" for part in one)):
                what = f"other processes (a variable that may name a program: {''.join(part or '...' for part in one)})"
                yield Unread(what) if None in one else what
