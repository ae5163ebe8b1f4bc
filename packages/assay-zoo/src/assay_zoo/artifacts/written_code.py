"""Calls by which code writes code: of a file that Python or a notebook runs, or of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.written_names import WrittenNames

_CODE = re.compile(r".*\.(?:py|pyw|pyc|pyd|pyi|pyx|pth|so|ipynb)", re.IGNORECASE | re.DOTALL)
_PLACED = (
    "join", "joinpath", "with_suffix", "with_name", "Path", "PurePath", "PosixPath", "str", "fspath", "resolve", "absolute", "abspath",
)  # fmt: skip
"""These give a path that ends as their last argument does, or as what they are asked of."""
_MOVING = ("copy", "copy2", "copyfile", "move", "rename", "link", "symlink", "os.replace", "symlink_to", "hardlink_to")
_FILLING = (
    "write_text", "write_bytes", "save", "savetxt", "tofile", "dump", "FileIO", "memmap", "open_memmap", "FileHandler",
)  # fmt: skip


def written_code(call: ast.Call, path: str, place: WrittenNames) -> Iterator[str]:
    """`path` is what is called, as far as it is known."""
    if any(_is_code(target, place, set()) for target in _targets(call, path)):
        yield "code that is made while it runs (it writes a file of code)"


def _targets(call: ast.Call, path: str) -> list[ast.expr]:
    """What a call may write to."""
    name = path.rpartition(".")[2]
    asked = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "open":
        mode = words.get("mode", next(iter(call.args[1:2] if len(call.args) > 1 else call.args[:1]), None))
        reads = isinstance(mode, ast.Constant) and set(str(mode.value)) <= set("rbtU")
        alone = len(call.args) == 1 and "mode" not in words  # the mode of a path's own, or the path of a reader
        if reads or mode is None or (alone and not _is_mode(call.args[0])):
            return []
        return [*asked, *call.args[:1], *(words[key] for key in ("file",) if key in words)]
    if name in _FILLING:
        return [*asked, *call.args[:1]]
    return call.args[-1:] if name in _MOVING or path in _MOVING else []


def _is_mode(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and set(str(node.value)) <= set("rwaxbt+")


def _is_code(node: ast.expr, place: WrittenNames, seen: set[int]) -> bool:
    """Whether a path ends as one of code does. `seen` were looked at."""
    if id(node) in seen:
        return False
    seen.add(id(node))
    if last_name(node) == "__file__" or any(_CODE.fullmatch(text[-1] or "") for text in place.of(node)):
        return True
    if isinstance(node, ast.Subscript) and last_name(node.value) == "argv":
        return isinstance(node.slice, ast.Constant) and node.slice.value == 0
    parts = place.values_of(node.id) if isinstance(node, ast.Name) else []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts = [node.right]
    elif isinstance(node, ast.Call) and last_name(node.func) in _PLACED:
        parts = node.args[-1:] or ([node.func.value] if isinstance(node.func, ast.Attribute) else [])
    return any(_is_code(part, place, seen) for part in parts)
