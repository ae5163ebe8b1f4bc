"""Paths in the code of a submission that leave its own folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.followed_names import FollowedNames

_OUTSIDE = re.compile(
    r"/(?:etc|root|home|proc|sys|dev|var|usr|opt|mnt|run|tmp|bin|boot|srv)(?:/|$)|~[\w.-]*/|(?s:.*[/\\])?\.\.(?:[/\\]|$)|[A-Za-z]:\\"
)
_TENSOR = re.compile(r"(?:/[\w.]+)*/[A-Z][A-Za-z0-9]*(?:_\d+)?_output_\d+")
"""As the exporter of PyTorch names what a node gives."""
_READING = (
    "open", "Path", "PosixPath", "PurePath", "PurePosixPath", "joinpath", "read_text", "load", "loadtxt", "genfromtxt", "fromfile",
    "memmap", "imread", "read_csv", "listdir", "scandir", "glob", "iglob", "walk", "chdir", "input", "FileInput", "copyfile", "copytree",
)  # fmt: skip
_ADDRESS = re.compile(r"(?:https?|ftps?)://", re.IGNORECASE)
_FETCHING = re.compile(r"(?:u?open|load|read|parse|fetch|download|retrieve|imread|genfromtxt|use|rc_file)(?:_?\w+)?")
_NAMED = ("file", "path", "filename", "fname", "filepath_or_buffer", "top", "src", "dst", "pathname")
_SAME = ("resolve", "absolute", "abspath", "realpath", "Path", "PurePath", "str", "fspath", "dirname")
"""These give the path that they are given, or the folder that it is in."""
_SEPARATORS = ("os.sep", "os.path.sep", "os.altsep", "posixpath.sep")


def outside_text(node: ast.Constant) -> str:
    """The text of a constant that is a path outside, wherever it stands."""
    text = _text(node)
    plain = re.sub(r"/(?:\.?/)+", "/", text)
    return text if _OUTSIDE.match(plain) and not _TENSOR.fullmatch(plain) else ""


def outside_arguments(call: ast.Call, name: str, bound: FollowedNames) -> Iterator[str]:
    """What a call that opens or builds a path begins at the root with, and addresses that it reads."""
    if _FETCHING.fullmatch(name) and not any(one.startswith("urllib.parse.") for one in bound.of(call.func)):
        starts = [_start(one, bound) for one in (*call.args, *(key.value for key in call.keywords))]
        yield from (one for one in starts if _ADDRESS.match(one))
    joins = name == "join" and len(call.args) > 1
    if joins or name in _READING:
        for one in (*call.args, *(key.value for key in call.keywords if key.arg in _NAMED)):
            start = _start(one, bound)
            plain = isinstance(one, ast.Constant) and outside_text(one)
            if start.startswith("/") and not plain:  # that one is found as a text
                yield start


def levels_above(node: ast.AST) -> int:
    """How many folders up from the file itself a path is, as `Path(__file__).parent` is one; 0 where it is no such path."""
    above = 0
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute) and node.attr == "parent":
            above, node = above + 1, node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            at = node.slice.value if isinstance(node.slice, ast.Constant) else 0
            above, node = above + 1 + (at if isinstance(at, int) else 0), node.value.value
        elif isinstance(node, ast.Call) and (name := last_name(node.func)) in _SAME:
            above += name == "dirname"
            given = node.func.value if isinstance(node.func, ast.Attribute) else node
            node = node.args[0] if node.args else given if given is not node else ast.Name("")
        else:
            return 0
    return above if node.id == "__file__" else 0


def divides_root(node: ast.BinOp, bound: FollowedNames) -> bool:
    """Whether it is `path / "/"`: it begins at the root again."""
    return isinstance(node.op, ast.Div) and _start(node.right, bound) == "/"


def joined_text(node: ast.BinOp) -> str:
    """The path outside that texts are put together to, where none of them is one."""
    if not isinstance(node.op, ast.Add):
        return ""
    text = _start(node, FollowedNames({}))
    parts = [one for one in ast.walk(node) if isinstance(one, ast.Constant)]
    return text if outside_text(ast.Constant(text)) and not any(map(outside_text, parts)) else ""


def _text(node: ast.AST) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return value.decode("latin-1") if isinstance(value, bytes) else value if isinstance(value, str) else ""


def _start(node: ast.AST, bound: FollowedNames) -> str:
    """What the text begins with that an expression gives, as far as it is written there."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = _start(node.left, bound)
        return left + _start(node.right, bound) if left else ""
    if isinstance(node, ast.JoinedStr) and node.values:
        return _start(node.values[0], bound)
    return "/" if set(bound.of(node)) & set(_SEPARATORS) else _text(node)
