"""Variables of the environment. Those that code sets a library reads, but some name a program, which others start. Those that it
reads may be a secret, or lead out of the submission; one that only becomes a number, or a yes or no, is a setting."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.reached import Unread
from assay_zoo.artifacts.written_names import WrittenNames

TABLE, READER = "os.environ", "os.getenv"
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
        for text in written.of(node) if node is not None else [(None,)]:
            if None in text or _PROGRAMS.fullmatch("".join(part or "" for part in text)):
                what = (
                    f"other processes (a variable that may name a program: {''.join(part or '...' for part in text)})"
                )
                yield Unread(what) if None in text else what


_SECRET = re.compile(
    r".*(?:TOKEN(?!S|IZ|_?(?:ID|LEN|LENGTH|COUNT|LIMIT|NUM)(?:_|$))|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|COOKIE).*"
    r"|(?:.*_)?(?:PWD|KEYS?|CREDS?|O?AUTH|BEARER|PRIVATE|CERT|LOGIN|ACCOUNT|JWT|DSN|WEBHOOK)(?:_.*)?|(?:.*_)?PAT|.*_PASS",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r".*(?:_UR[LI]|CONN(?:ECTION)?_?STR(?:ING)?|PASS)|UR[LI]|(?!(?:MAX|MIN|NUM|N|TOTAL)_).*TOKENS|USER(?:NAME)?|LOGNAME",
    re.IGNORECASE,
)
"""They may hold a password, or say who runs it: as a number they say nothing, on the screen all."""
_FOLDERS = re.compile(r"HOME|HOMEPATH|HOMEDRIVE|USERPROFILE|(?:LOCAL)?APPDATA|OLDPWD|XDG_.*", re.IGNORECASE)
"""Of whoever runs it."""


_SHAPES = ("sep", "end", "flush", "base")
"""Keywords of `print` and `int` that say how, and not where to."""


CAPTURING = ("redirect_stdout", "redirect_stderr", "capture_output")
"""With these what is printed becomes a value."""


def asked_names(node: ast.AST) -> Iterator[tuple[ast.expr, tuple[ast.expr, ast.AST]]]:
    """A table or function that may be asked for a variable: by which name, and what gives it."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield node.value, (node.slice, node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        yield node.comparators[0], (node.left, node)
    elif isinstance(node, ast.Call):
        for name in (*node.args[:1], *(word.value for word in node.keywords if word.arg == "key")):
            yield node.func, (name, node)
            if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                yield node.func.value, (name, node)


def only_printed(node: ast.AST, is_plain: Callable[[ast.Call, Collection[str]], bool]) -> Iterator[ast.AST]:
    """Values that are shown on the screen: nothing else is ever done with them here."""
    if isinstance(node, ast.Call) and is_plain(node, ("print",)) and all(word.arg in _SHAPES for word in node.keywords):
        for arg in node.args:
            parts = arg.values if isinstance(arg, ast.JoinedStr) else [arg]
            yield from (part.value if isinstance(part, ast.FormattedValue) else part for part in parts)


def only_counted(node: ast.AST, is_plain: Callable[[ast.Call, Collection[str]], bool]) -> Iterator[ast.AST]:
    """Values of which a number is made, or that decide something: nothing else is ever done with them here."""
    nodes: list[ast.AST] = []
    if isinstance(node, ast.Call) and is_plain(node, ("int", "float", "bool")):
        nodes = [] if any(word.arg not in _SHAPES for word in node.keywords) else [*node.args]
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        nodes = [node.test]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        nodes = [node.operand]
    elif isinstance(node, ast.Compare):
        nodes = [node]
        sides = (node.left, *node.comparators)
        nodes += [side for side in sides if all(each is side or _is_written(each) for each in sides)]
    for value in nodes:
        yield value
        yield from value.values if isinstance(value, ast.BoolOp) else ()


def _is_written(node: ast.expr) -> bool:
    return all(
        isinstance(each, ast.Constant | ast.Tuple | ast.List | ast.Set | ast.expr_context) for each in ast.walk(node)
    )


def read_variable(name: ast.expr, written: WrittenNames, *, is_counted: bool, is_printed: bool) -> Iterator[str]:
    """What one variable may give that is no setting."""
    for parts in written.of(name):
        text = "".join(part or "..." for part in parts)
        what = f"the environment (the variable {text})"
        if _SECRET.fullmatch(text) and None not in parts:
            yield what
        elif _FOLDERS.fullmatch(text):
            yield f"files outside of the submission (the variable {text})"
        elif None in parts or not (is_counted or (is_printed and not _TELLING.fullmatch(text))):
            yield Unread(what)
