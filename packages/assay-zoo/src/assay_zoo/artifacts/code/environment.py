"""Variables of the environment. Those that code sets a library reads, but some name a program, which others start. Those that it
reads may be a secret, or lead out of the submission; one that only becomes a number, or a yes or no, is a setting."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from assay_zoo.artifacts.code.code_file import CodeFile, last_name, text_of, word_of
from assay_zoo.artifacts.code.reached import Unread

_TABLE, _READER = "os.environ", "os.getenv"
_PROGRAMS = re.compile(
    r".*(?:PAGER|BROWSER|EDITOR|BREAKPOINT)|(?:LD|DYLD)_.*|PYTHON(?!HASHSEED|WARNINGS|UNBUFFERED|DONTWRITEBYTECODE).*|PATH|SHELL|(?:BASH_)?ENV"
)
"""They name a program, or what one loads."""
_SECRET = re.compile(
    r".*(?:TOKEN(?!S|IZ|_?(?:ID|LEN|LENGTH|COUNT|LIMIT|NUM)(?:_|$))|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|COOKIE).*"
    r"|(?:.*_)?(?:PWD|KEYS?|CREDS?|O?AUTH|BEARER|PRIVATE|CERT|LOGIN|ACCOUNT|JWT|DSN|WEBHOOK)(?:_.*)?|(?:.*_)?PAT|.*_PASS",
    re.IGNORECASE,
)
_FOLDERS = re.compile(r"HOME|HOMEPATH|HOMEDRIVE|USERPROFILE|(?:LOCAL)?APPDATA|OLDPWD|XDG_.*", re.IGNORECASE)
"""Of whoever runs it."""


def environment(node: ast.AST, file: CodeFile) -> Iterator[str]:
    """What is done with a variable where it is asked for, and with all of them anywhere else."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return
    for path in file.paths(node):
        if path not in (_TABLE, _READER) or isinstance(node.ctx, ast.Store):
            continue
        asked = _asked(node, path, file)
        if asked is None:
            yield f"the environment ({path})"
            continue
        value, name, is_set = asked
        text = text_of(name)
        if not text:
            yield Unread("the environment (a variable whose name is made while it runs: write it)")
        elif is_set:
            if _PROGRAMS.fullmatch(text):
                yield f"other processes (a variable that may name a program: {text})"
        elif text.startswith("PYTHON"):
            yield Unread(f"how Python is run (the variable {text})")
        elif _SECRET.fullmatch(text) or _FOLDERS.fullmatch(text):
            yield f"the environment (the variable {text})"
        elif not _is_setting(value, file):
            yield Unread(f"the environment (the variable {text}: take int(...) of it, or compare it with a text)")


def _asked(node: ast.AST, path: str, file: CodeFile) -> tuple[ast.AST, ast.AST | None, bool] | None:
    """What gives or sets a variable, the name of it, and whether it is set."""
    above = file.parent(node)
    if isinstance(above, ast.Compare) and isinstance(above.ops[0], ast.In | ast.NotIn):
        return above, above.left, False
    if isinstance(above, ast.Subscript):
        return above, above.slice, isinstance(above.ctx, ast.Store)
    call = file.parent(above) if isinstance(above, ast.Attribute) and path == _TABLE else above
    if not isinstance(call, ast.Call) or call.func not in (node, above):
        return None
    method = last_name(call.func)
    name = call.args[0] if call.args else word_of(call, "key")
    if method == "update" and id(call) in file.words:
        tables = [key for arg in call.args if isinstance(arg, ast.Dict) for key in arg.keys]
        worst = [key for key in tables if not text_of(key) or _PROGRAMS.fullmatch(text_of(key))]
        return call, (worst or tables or [None])[0], True
    if method == "setdefault" and id(call) in file.words:
        return call, name, True
    return (call, name, False) if method in ("get", "getenv", "environ") or path == _READER else None


def _is_setting(value: ast.AST, file: CodeFile) -> bool:
    """Whether a number is made of it, or it decides something: nothing else is ever done with it here."""
    above = file.parent(value)
    if isinstance(above, ast.BoolOp):
        return _is_setting(above, file)
    if isinstance(above, ast.Compare):
        sides = [side for side in (above.left, *above.comparators) if side is not value]
        return all(
            isinstance(part, ast.Constant | ast.Tuple | ast.List | ast.Set | ast.expr_context)
            for side in sides
            for part in ast.walk(side)
        )
    counted = (
        isinstance(above, ast.Call)
        and last_name(above.func) in ("int", "float", "bool")
        and last_name(above.func) not in file.own
    )
    tested = isinstance(above, ast.If | ast.IfExp | ast.While) and above.test is value
    return (
        isinstance(value, ast.Compare)
        or counted
        or tested
        or (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not))
    )
