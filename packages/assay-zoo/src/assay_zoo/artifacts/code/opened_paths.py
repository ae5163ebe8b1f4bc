"""Paths in the code of a submission that leave its own folder, or that no reader sees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from assay_zoo.artifacts.code.code_file import CodeFile, given_to, last_name, text_of
from assay_zoo.artifacts.code.reached import Unread

_OPENING = re.compile(
    r"u?open\w*|(?:Pure)?(?:Posix)?Path|joinpath|load(?:txt|mat)?|genfromtxt|fromfile|memmap|imread|read_\w+|listdir|scandir|i?glob|walk|"
    r"chdir|input|FileInput|\w*FileHandler|copy\w*|move|rename|rmtree|makedirs|mkdir|rmdir|unlink|with_suffix|with_name|parse|fetch\w*|download\w*"
)
_NAMED = ("file", "path", "filename", "fname", "filepath_or_buffer", "top", "src", "dst", "pathname", "root_dir")
_DECODING = re.compile(
    r"\w*b(?:16|32|64|85)decode|a85decode|decodebytes|a2b_\w+|unhexlify|fromhex|decompress|chr|translate|to_?bytes|unquote\w*|unescape|"
    r"literal_eval|substitute"
)
_OF_TEXTS = (
    "decode",
    "encode",
    "join",
    "format",
    "str",
    "bytes",
    "strip",
    "replace",
    "lower",
    "list",
    "tuple",
    "reversed",
    "map",
    "Path",
)
_SAME = ("resolve", "absolute", "abspath", "realpath", "Path", "PurePath", "str", "fspath", "dirname")
"""These give the path that they are given, or the folder that it is in."""
_HERE = ("cwd", "getcwd", "gettempdir", "files", "locate_file")
_ABOVE_ALL = 1000
"""Folders: more than any path has."""
_FINDING = ("glob", "rglob", "iglob", "iterdir", "listdir", "scandir", "walk")


def opened_paths(node: ast.AST, file: CodeFile) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _start(node.right, file).startswith("/"):
        yield "files outside of the submission ('/')"
    if isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        above = levels_above(node, file)
        if above > 1 and above > file.depth:
            yield "files outside of the submission (above the folder of the submission)"
    if not isinstance(node, ast.Call):
        return
    name = next((path.rpartition(".")[2] for path in file.paths(node.func)), last_name(node.func))
    if name in ("home", "expanduser", "expandvars"):
        yield f"files outside of the submission ({name})"
    joins = name == "join" and len(node.args) > 1
    if joins or _OPENING.fullmatch(name):
        given = [*node.args, *(word.value for word in node.keywords if word.arg in _NAMED)]
        for start in (_start(argument, file) for argument in given):
            if start.startswith("/") or start == "\\":
                yield f"files outside of the submission ({start[:60]!r})"
        if name != "loads" and any(_is_decoded(argument, file, set()) for argument in given):
            yield Unread("a path that is decoded: write it as it is")
        if any(last_name(argument) == "argv" for each in given for argument in [getattr(each, "value", each)]) and name in (
            "rename", "move", "copy", "copyfile",
        ):  # fmt: skip
            yield Unread("a file that is named while it runs (of sys.argv)")
    if name == "replace" and "os.replace" in file.paths(node.func) and "argv" in ast.unparse(node):
        yield Unread("a file that is named while it runs (of sys.argv)")
    if (
        name in ("write_text", "write_bytes")
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
    ):
        values = [part for each in file.values(node.func.value.id) for part in ast.walk(each)]
        if any(isinstance(part, ast.Call) and last_name(part.func) in _FINDING for part in values):
            yield Unread(f"a file of any name, that is found while it runs ({name})")
    if any(word.arg == "inplace" for word in node.keywords) and name in ("input", "FileInput"):
        yield Unread("a file that is written over while it is read (inplace)")
    if name == "extract" and len(given_to(node)) < 2:
        yield Unread("files that are made while it runs (extract: say where to)")


def levels_above(node: ast.AST, file: CodeFile) -> int:
    """How many folders up from the file itself a path is, as `Path(__file__).parent` is one; 0 where it is no such path. Every folder
    above the one in which it runs is too many."""
    above, resolved = 0, False
    for _ in range(20):
        if isinstance(node, ast.Attribute) and node.attr in ("parent", "parents"):
            above, node = above + 1, node.value
        elif (
            isinstance(node, ast.Subscript)
            and last_name(node.value) == "parents"
            and isinstance(node.value, ast.Attribute)
        ):
            at = getattr(node.slice, "value", _ABOVE_ALL)
            above, node = above + 1 + (at if isinstance(at, int) else _ABOVE_ALL), node.value.value
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Call)
            and last_name(node.value.func) == "split"
            and node.value.args
        ):
            above, node = above + 1, node.value.args[0]
        elif isinstance(node, ast.Call) and (name := last_name(node.func)) in (*_SAME, *_HERE):
            if name in _HERE or (name == "Path" and not node.args):
                return _ABOVE_ALL if above else 0
            above += name == "dirname"
            resolved |= name in ("resolve", "absolute", "abspath", "realpath")
            node = node.args[0] if node.args else getattr(node.func, "value", ast.Name(""))
        elif isinstance(node, ast.Constant) and node.value in ("", "."):
            return _ABOVE_ALL if above else 0
        elif (
            isinstance(node, ast.Name)
            and len(values := file.values(node.id)) == 1
            and "__file__" not in ast.unparse(values[0])
        ):
            node = values[0]
        else:
            break
    if resolved and above > len(PurePosixPath(text_of(node)).parts) > 0:
        return _ABOVE_ALL
    return above if isinstance(node, ast.Name) and node.id == "__file__" else 0


def _start(node: ast.AST, file: CodeFile) -> str:
    """What the text begins with that an expression gives, as far as it is written there."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _start(node.left, file)
    if isinstance(node, ast.JoinedStr) and node.values:
        return _start(node.values[0], file)
    of_parts = (
        isinstance(node, ast.Subscript) and last_name(node.value) == "parts" and getattr(node.slice, "value", 1) == 0
    )
    root = of_parts or (
        isinstance(node, ast.Attribute)
        and (node.attr == "anchor" or (node.attr == "root" and isinstance(node.value, ast.Call)))
    )
    return "/" if root or {"os.sep", "os.path.sep", "os.altsep"} & set(file.paths(node)) else text_of(node)


def _is_decoded(node: ast.AST, file: CodeFile, seen: set[int]) -> bool:
    """Whether a text comes out of what no reader sees: numbers, base64, packed data. `seen` were looked at."""
    if id(node) in seen:
        return False
    seen.add(id(node))
    if isinstance(node, ast.Name) and node.id == "chr":
        return True
    parts = list(file.values(node.id)) if isinstance(node, ast.Name) else list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call):
        if _DECODING.fullmatch(last_name(node.func)) or _is_computed(node, file):
            return True
        parts = parts if last_name(node.func) in _OF_TEXTS else []
    return any(_is_decoded(part, file, seen) for part in parts)


def _is_computed(call: ast.Call, file: CodeFile) -> bool:
    """Whether a function of Python or of a package makes it of nothing but what is written there: it could stand there itself."""
    name, numbers = last_name(call.func), [part for arg in call.args[:1] for part in getattr(arg, "elts", ())]
    if name in ("bytes", "bytearray"):
        return bool(numbers)
    written = bool(call.args) and all(isinstance(arg, ast.Constant) for arg in given_to(call))
    other = not _OPENING.fullmatch(name) and name not in (*_SAME, *_HERE, *_OF_TEXTS, "get", "getenv")
    return written and other and any(map(file.is_shared, file.paths(call.func))) and file.texts.of(call) is None
