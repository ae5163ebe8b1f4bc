"""Paths in the code of a submission that leave its own folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.dangerous_names import is_hidden
from assay_zoo.artifacts.followed_names import FollowedNames
from assay_zoo.artifacts.reached import Unread
from assay_zoo.artifacts.written_names import WrittenNames

_OUTSIDE = re.compile(
    r"/(?:etc|root|home|proc|sys|dev|var|usr|opt|mnt|run|tmp|bin|boot|srv)(?:/|$)|~[\w.-]*/|(?s:.*[/\\])?\.\.(?:[/\\]|$)|[A-Za-z]:\\"
)
_TENSOR = re.compile(r"(?:/[\w.]+)*/[A-Z][A-Za-z0-9]*(?:_\d+)?_output_\d+")
"""As the exporter of PyTorch names what a node gives."""
_READING = (
    "open", "Path", "PosixPath", "PurePath", "PurePosixPath", "joinpath", "read_text", "load", "loadtxt", "genfromtxt", "fromfile",
    "memmap", "imread", "read_csv", "listdir", "scandir", "glob", "iglob", "walk", "chdir", "input", "FileInput", "copyfile", "copytree",
    "rmtree", "makedirs", "mkdir", "rmdir", "unlink", "copy2",
)  # fmt: skip
_ADDRESS = re.compile(r"(?:https?|ftps?)://", re.IGNORECASE)
_FETCHING = re.compile(r"(?:u?open|load|read|parse|fetch|download|retrieve|imread|genfromtxt|use|rc_file)(?:_?\w+)?")
_NAMED = ("file", "path", "filename", "fname", "filepath_or_buffer", "top", "src", "dst", "pathname", "root_dir")
_SAME = ("resolve", "absolute", "abspath", "realpath", "Path", "PurePath", "str", "fspath", "dirname")
"""These give the path that they are given, or the folder that it is in."""
_DECODING = (
    "b64decode", "urlsafe_b64decode", "standard_b64decode", "b32decode", "b16decode", "b85decode", "a85decode", "decodebytes", "a2b_base64",
    "unhexlify", "a2b_hex", "fromhex", "decompress", "chr", "translate",
)  # fmt: skip
_OF_TEXTS = (
    "decode", "encode", "join", "format", "str", "bytes", "strip", "replace", "lower", "list", "tuple", "reversed", "map", "Path",
)  # fmt: skip
_BACKENDS = ("matplotlib.use", "matplotlib.pyplot.switch_backend", "matplotlib.pyplot.matplotlib.use")
_SEPARATORS = ("os.sep", "os.path.sep", "os.altsep", "posixpath.sep")


def outside_text(node: ast.Constant) -> str:
    """The text of a constant that is a path outside, wherever it stands."""
    text = _text(node)
    plain = re.sub(r"/(?:\.?/)+", "/", text)
    return text if _OUTSIDE.match(plain) and not _TENSOR.fullmatch(plain) else ""


def outside_arguments(call: ast.Call, name: str, bound: FollowedNames, place: WrittenNames) -> Iterator[str]:
    """Absolute paths that a call opens or builds, and addresses that it reads."""
    if _FETCHING.fullmatch(name) and not any(path.startswith("urllib.parse.") for path in bound.of(call.func)):
        for argument in (*call.args, *(key.value for key in call.keywords)):
            texts = [(_start(argument, bound),), *place.of(argument)]
            yield from dict.fromkeys(text[0] for text in texts if text[0] and _ADDRESS.match(text[0]))
            if any("://" in (part or "") for text in texts for part in text[1:]) or (
                name != "loads" and _is_decoded(argument, place, set())
            ):
                yield Unread("an address or a path that is made while it runs")
    if set(bound.of(call.func)) & set(_BACKENDS) and any(
        "webagg" in map(str.lower, filter(None, text)) for each in call.args for text in place.of(each)
    ):
        yield "network (a backend of matplotlib that serves pages)"
    if name in ("with_suffix", "with_name") and any(_is_decoded(arg, place, set()) for arg in call.args):
        yield Unread("an address or a path that is made while it runs")
    if set(bound.of(call.func)) & set(_BACKENDS) and any(None in text for each in call.args for text in place.of(each)):
        yield Unread("a backend of matplotlib, which may be a module, whose name is made while it runs")
    joins = name == "join" and len(call.args) > 1
    if joins or name in _READING:
        for argument in (*call.args, *(key.value for key in call.keywords if key.arg in _NAMED)):
            start = _start(argument, bound)
            plain = isinstance(argument, ast.Constant) and outside_text(argument)
            if start.startswith("/") and not plain:  # that one is found as a text
                yield start


def _is_decoded(node: ast.AST, place: WrittenNames, seen: set[int]) -> bool:
    """Whether a text comes out of what no reader sees: numbers, base64, packed data. `seen` were looked at."""
    if id(node) in seen:
        return False
    seen.add(id(node))
    parts: Sequence[ast.AST] = (
        place.values_of(node.id) if isinstance(node, ast.Name) else list(ast.iter_child_nodes(node))
    )
    if isinstance(node, ast.Call):
        name = last_name(node.func)
        if name in _DECODING:
            return True
        parts = parts if name in _OF_TEXTS else ()
    return any(_is_decoded(part, place, seen) for part in parts)


def made_text(node: ast.expr, place: WrittenNames) -> Iterator[str]:
    """What a joined text leads to although none of its parts does."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Constant)]
    starts = [text[0] for text in place.of(node) if text[0]]
    if not any(map(outside_text, parts)):
        yield from (
            f"files outside of the submission ({start[:60]!r})" for start in starts if outside_text(ast.Constant(start))
        )
    yield from (what for start in starts for what in module_text(start))
    if len(parts) > 1 and not any(is_hidden(_text(part)) for part in parts):
        whole = [text[0] for text in place.of(node) if len(text) == 1 and text[0] and is_hidden(text[0])]
        yield from (f"the insides of Python or IPython ({text}, put together)" for text in whole)


def module_text(text: str) -> Iterator[str]:
    """By which matplotlib imports a module."""
    if text.strip().lower().startswith("module://"):
        yield f"code from elsewhere ({text[:60]!r})"


_HERE = ("cwd", "getcwd")
_ABOVE_ALL = 1000
"""Folders: more than any path has."""


def levels_above(node: ast.AST, values: Callable[[str], Sequence[ast.AST]] = lambda _: ()) -> int:
    """How many folders up from the file itself a path is, as `Path(__file__).parent` is one; 0 where it is no such path. Every folder
    above the one in which it runs is too many. `values` are those of a name."""
    above, most = 0, 20
    while most := most - 1:
        if isinstance(node, ast.Attribute) and node.attr in ("parent", "parents"):
            above, node = above + 1, node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            at = node.slice.value if isinstance(node.slice, ast.Constant) else 0
            last = _ABOVE_ALL if isinstance(node.slice, ast.UnaryOp) else 0
            above, node = above + 1 + last + (at if isinstance(at, int) else 0), node.value.value
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call) and _splits(node.value):
            above, node = above + 1, node.value.args[0]
        elif isinstance(node, ast.Call) and (name := last_name(node.func)) in (*_SAME, *_HERE):
            if name in _HERE or (name == "Path" and not node.args):
                return _ABOVE_ALL if above else 0
            above += name == "dirname"
            given = node.func.value if isinstance(node.func, ast.Attribute) else node
            node = node.args[0] if node.args else given if given is not node else ast.Name("")
        elif isinstance(node, ast.Constant) and node.value in ("", "."):
            return _ABOVE_ALL if above else 0
        elif isinstance(node, ast.Name) and len(named := values(node.id)) == 1 and _is_here(named[0]):
            node = named[0]
        else:
            break
    return above if isinstance(node, ast.Name) and node.id == "__file__" else 0


def _is_here(node: ast.AST) -> bool:
    """Whether a value is made of the folder in which it runs: what a name stands for that is made of `__file__` may be looked for there."""
    return not any(isinstance(part, ast.Name) and part.id == "__file__" for part in ast.walk(node))


def _splits(call: ast.Call) -> bool:
    return last_name(call.func) == "split" and len(call.args) == 1


def divides_root(node: ast.BinOp, bound: FollowedNames) -> bool:
    """Whether it is `path / "/"`: it begins at the root again."""
    return isinstance(node.op, ast.Div) and _start(node.right, bound) == "/"


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
    root = isinstance(node, ast.Attribute) and (
        node.attr == "anchor" or (node.attr == "root" and isinstance(node.value, ast.Call))
    )
    return "/" if root or set(bound.of(node)) & set(_SEPARATORS) else _text(node)
