"""Texts in the code of a submission: paths outside, addresses, names of insides and of files of code, and texts put together of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from assay_zoo.artifacts.code.code_file import CodeFile, given_to, last_name, text_of
from assay_zoo.artifacts.code.known_names import HIDDEN, PLAIN_DUNDERS, reached_by_format
from assay_zoo.artifacts.code.reached import Unread

_OUTSIDE = re.compile(
    r"/(?:etc|root|home|proc|sys|dev|var|usr|opt|mnt|run|tmp|bin|boot|srv)(?:/|$)|~[\w.-]*/|(?s:.*[/\\])?\.\.(?:[/\\]|$)|[A-Za-z]:\\"
)
_TENSOR = re.compile(r"(?:/[\w.]+)*/[A-Z][A-Za-z0-9]*(?:_\d+)?_output_\d+")
"""As the exporter of PyTorch names what a node gives."""
_CODE = re.compile(r"\S*\.(?:py|pyw|pyc|pyd|pyi|pyx|pth|so|sh|ipynb)", re.IGNORECASE)
_STARTING = re.compile(r"(?:\S*\.)?(?:usetex|usedistiller|pgf)", re.IGNORECASE)
_DRAWN = re.compile(r"\S*\.e?ps", re.IGNORECASE)
ADDRESS = re.compile(r"\s*(?:https?|ftps?|file|s3|gs|rt[sm]p):(?://|$)", re.IGNORECASE)
_DUNDER = re.compile(r"__\w+__")
_COMPARING = (
    "replace", "split", "rsplit", "partition", "rpartition", "startswith", "endswith", "count", "strip", "lstrip", "rstrip", "sub",
    "removeprefix", "removesuffix", "print", "match", "search", "fullmatch", "findall", "compile", "debug", "info", "warning", "error",
)  # fmt: skip
"""Calls that only look at a text."""
_FILES = ("exists", "is_file", "open", "abspath", "dirname")
_PATH_SIGNS = set("._/~\\:")


def reached_by_text(node: ast.AST, file: CodeFile) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in file.words:
        yield from _of_text(text_of(node), node, file)


def _of_text(text: str, node: ast.AST, file: CodeFile) -> Iterator[str]:
    """`node` is what gives the text."""
    above = file.parent(node)
    plain = re.sub(r"/(?:\.?/)+", "/", text)
    yield from reached_by_format(text)
    if text.strip().lower().startswith("module://"):
        yield f"code from elsewhere ({text[:60]!r})"
    if (_DUNDER.fullmatch(text) and text not in PLAIN_DUNDERS) or (text in HIDDEN and "_" in text):
        yield Unread(f"the insides of Python ({text})")
    if text == "fromfile_prefix_chars":
        yield Unread(f"files that are named while it runs ({text})")
    if _STARTING.fullmatch(text):
        yield Unread(f"other processes ({text[-40:]!r} starts TeX or another program)")
    if isinstance(above, ast.Compare) or _only_looks(above, node):
        return
    if _OUTSIDE.match(plain) and not _TENSOR.fullmatch(plain):
        what = f"files outside of the submission ({text[:60]!r})"
        yield Unread(what) if isinstance(above, ast.List | ast.Tuple | ast.Set | ast.Dict) else what
    if _CODE.fullmatch(text) and not (
        isinstance(above, ast.Call) and last_name(above.func) in _FILES and len(given_to(above)) == 1
    ):
        yield Unread(f"a file of code ({text[-40:]!r}): write no code, and give files other names")
    if _DRAWN.fullmatch(text) and "PIL" in str(file.imported):
        yield Unread("other processes (a picture in PostScript is drawn by another program)")
    if ADDRESS.match(text) or text.startswith(("://", "//")):
        yield from _address(text, node, file)
    if (
        isinstance(above, ast.Dict)
        and node in above.values
        and re.search(r"[/\\]|\.\w+$", text)
        and _is_option(above, file)
    ):
        yield Unread("native code (an option of a provider that is a file)")


def _only_looks(above: ast.AST | None, node: ast.AST) -> bool:
    if not isinstance(above, ast.Call) or last_name(above.func) not in _COMPARING:
        return False
    of_module = isinstance(above.func, ast.Attribute) and last_name(above.func.value) in ("os", "shutil")
    return not of_module and (node is above.args[0] if above.args else False)


def _is_option(table: ast.AST, file: CodeFile) -> bool:
    """Whether it stands somewhere in what `InferenceSession` is given."""
    above: ast.AST | None = table
    while above is not None and not isinstance(above, ast.stmt):
        if isinstance(above, ast.Call) and last_name(above.func) == "InferenceSession":
            return True
        above = file.parent(above)
    return False


def _address(text: str, node: ast.AST, file: CodeFile) -> Iterator[str]:
    """One that a call may read, or that is put together."""
    above = file.parent(node)
    if isinstance(above, ast.keyword):
        above = file.parent(above)
    while isinstance(above, ast.BinOp | ast.JoinedStr):
        above = file.parent(above)
    if isinstance(above, ast.Call):
        name = last_name(above.func)
        if name not in (*_COMPARING, "add_argument", "ArgumentParser", "append", "join", "set_title", "Markdown"):
            own = isinstance(above.func, ast.Name) and name in file.own
            yield Unread(f"the network ({text[:60]!r})") if own else f"the network ({text[:60]!r})"
    elif not ADDRESS.match(text) or text.endswith(":") or file.parent(node) is not above:
        yield Unread(f"the network (an address in parts, {text[:60]!r})")
    elif isinstance(above, ast.arguments) or any(map(_fetches, file.nodes)):
        yield Unread(f"the network ({text[:60]!r})")


def _fetches(node: ast.AST) -> bool:
    """Calls of what may read an address, of a name."""
    is_reader = isinstance(node, ast.Call) and re.fullmatch(
        r"genfromtxt|loadtxt|recfrom\w+|DataSource|imread|read_(?:csv|table|json|html|excel|parquet|feather|fwf|xml|hdf|orc|stata|sas|spss)",
        last_name(node.func),
    )
    return (
        bool(is_reader)
        and isinstance(node, ast.Call)
        and not all(isinstance(arg, ast.Constant) for arg in node.args[:1])
    )


def made_texts(node: ast.AST, file: CodeFile) -> Iterator[str]:
    """What is put together of written texts is read as the text that it gives; what is decoded, and signs of a path of numbers, as none."""
    text, whole = file.texts.of(node), file.texts.of(file.parent(node)) is None
    if text is not None and whole and not isinstance(node, ast.Constant):
        yield from _of_text(text, node, file)
    made = Unread("a text that is made of others, or of numbers: write it as one")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and text is None:
        part = text_of(node.left) or text_of(node.right)
        yield from [made] if part and set(part) <= _PATH_SIGNS else []
    elif isinstance(node, ast.Call):
        name, of = last_name(node.func), getattr(node.func, "value", None)
        numbered = name == "chr" and isinstance(node.args[0] if node.args else None, ast.Constant)
        if (numbered and whole) or name in ("fromhex", "unhexlify"):
            yield made
        elif name == "decode" and (len(node.args) > 1 or _is_decoding(of)):
            yield Unread("a text that is decoded: write it as it is")


def _is_decoding(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and "decode" in last_name(node.func)
