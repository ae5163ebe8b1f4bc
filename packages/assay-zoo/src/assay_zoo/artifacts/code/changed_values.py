"""What a file gives to values that it did not make, and classes that it derives from those of others."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator

from assay_zoo.artifacts.code.code_file import CodeFile, last_name, text_of
from assay_zoo.artifacts.code.reached import DERIVED, Unread

_RUNTIMES = re.compile(
    r"(?:onnxruntime(?!\.quantization)|onnx\.reference|onnx\.backend|openvino|tensorrt|iree|tvm|ncnn|MNN|ai_edge_litert|tflite_runtime|"
    r"executorch|tensorflow\.lite|cv2\.dnn)\..*"
)
_RUNNERS = ("InferenceSession", "ReferenceEvaluator", "Session")
"""Classes that run a model."""
_ANSWERING = (
    "run",
    "run_with_iobinding",
    "run_with_ort_values",
    "run_async",
    "get_inputs",
    "get_outputs",
    "get_modelmeta",
    "infer",
)
"""What a model is asked by."""
_DERIVED = ("Module", "Dataset", "IterableDataset", "Sampler", "CalibrationDataReader", "Function")
"""Classes of packages from which one has to derive."""
_NO_BASES = ("argparse.ArgumentParser", "string.Formatter", "unittest.IsolatedAsyncioTestCase")
_MADE = ("namedtuple", "NamedTuple", "TypedDict")
_METACLASSES = ("ABCMeta", "EnumMeta", "EnumType")
_GROWING = ("append", "insert", "extend", "update", "clear", "remove", "pop", "setdefault", "__setitem__", "__iadd__")
_SETTINGS = re.compile(r"torch\.backends\.")
"""Their settings have small letters."""
_TABLES = re.compile(r"\.(?:rcParams|environ)$")
"""Settings of a library, by the names of which a rule of its own knows."""
_READING = ("print", "len", "list", "tuple", "main", "parse_args")
_PLAIN = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.List, ast.Tuple, ast.Dict)


def changed_values(node: ast.AST, file: CodeFile) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        yield from _set(node.value, node.attr, _given(node, file), file)
    elif (
        isinstance(node, ast.Call)
        and last_name(node.func) in ("setattr", "delattr", "__setattr__")
        and len(node.args) > 1
    ):
        base, name = node.args[:2]
        names = file.written_names(name)
        if not names:
            yield Unread("names that are changed while it runs (setattr: write the name of the attribute)")
        for each in sorted(names):
            yield from _set(base, each, node.args[2] if len(node.args) > 2 else None, file)
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        yield from _search(node.value, None, file)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWING:
        yield from _search(node.func.value, node.args[-1] if node.args else None, file)
    elif isinstance(node, ast.Name | ast.Attribute) and last_name(node) in _RUNNERS:
        yield from _handed_on(node, file)
    elif isinstance(node, ast.Name | ast.Attribute) and {"sys.path", "sys.argv"} & set(file.paths(node)):
        above = file.parent(node)
        plain = isinstance(
            above, ast.Attribute | ast.Subscript | ast.Compare | ast.For | ast.comprehension | ast.Starred
        )
        if not plain and not (isinstance(above, ast.Call) and last_name(above.func) in _READING):
            yield Unread(f"code from elsewhere ({ast.unparse(node)} under another name)")


def _given(node: ast.expr, file: CodeFile) -> ast.AST | None:
    above = file.parent(node)
    return above.value if isinstance(above, ast.Assign | ast.AnnAssign | ast.AugAssign) else None


def _set(base: ast.expr, name: str, value: ast.AST | None, file: CodeFile) -> Iterator[str]:
    sentence = f"({ast.unparse(base)[:40]}.{name or '...'} is replaced)"
    constant = isinstance(value, ast.Constant)
    if name in _ANSWERING and not constant:
        yield Unread(f"what a model answers {sentence}")
    elif file.paths(base):
        shared = any(map(file.is_shared, file.paths(base)))
        setting = constant and (name.isupper() or any(map(_SETTINGS.match, file.paths(base))))
        if any(path == "sys" for path in file.paths(base)) or not (setting if shared else constant):
            yield Unread(f"what a {'package does' if shared else 'name of another file stands for'} {sentence}")
        elif not shared and any(map(file.is_module, file.paths(base))):
            yield Unread(f"what a name of another file stands for {sentence}")
    elif constant or file.is_self(base):
        return
    elif not isinstance(base, ast.Name | ast.Attribute | ast.Subscript) or not _is_value(value, file):
        yield Unread(
            f"what a value does for all that use it {sentence}: give it a number or a text, or write a class of your own"
        )


def _is_value(value: ast.AST | None, file: CodeFile) -> bool:
    """Whether it is no function: written out, computed, or a setting of a package in capitals."""
    if isinstance(value, ast.Call):
        if any(isinstance(part, ast.Lambda) or _is_function(part, file) for part in ast.walk(value)):
            return False
        return any(map(file.is_shared, file.paths(value.func))) or last_name(value.func) in dir(builtins)
    if isinstance(value, ast.BoolOp):
        return all(_is_value(part, file) for part in value.values)
    return isinstance(value, _PLAIN) or (isinstance(value, ast.Attribute) and value.attr.isupper())


def _is_function(node: ast.AST, file: CodeFile) -> bool:
    named = isinstance(node, ast.Name) and any(isinstance(each, ast.FunctionDef) for each in file.values(node.id))
    return named or any(path.startswith(("functools.", "operator.")) for path in file.paths(node))


def _search(base: ast.expr, value: ast.AST | None, file: CodeFile) -> Iterator[str]:
    """Where modules are looked for, and which tests are run."""
    for path in file.paths(base):
        if not file.is_shared(path) and not isinstance(value, ast.AST) and path.count("."):
            yield Unread(f"what a name of another file stands for ({path})")
        value_of_it = (
            file.is_shared(path)
            and not file.is_module(path)
            and not _TABLES.search(path)
            and not path.startswith("sys.")
        )
        if value_of_it:
            yield Unread(f"what a package does ({path} is changed)")
        folders = value is not None and path == "sys.path" and _is_own_folder(value)
        if path in ("sys.path", "sys.argv", "sys.modules") and not folders:
            yield Unread(
                f"code from elsewhere ({path} is changed: only a folder of the file itself may be put there, as dirname(__file__))"
            )


def _is_own_folder(node: ast.AST) -> bool:
    texts = [text_of(part) for part in ast.walk(node) if isinstance(part, ast.Constant)]
    here = {last_name(part) for part in ast.walk(node)} & {"__file__", "getcwd", "cwd"}
    return all(text in (".", "..", "", 0) for text in texts) and bool(texts or here)


def _handed_on(node: ast.expr, file: CodeFile) -> Iterator[str]:
    """A class that runs models, other than called, asked or named as a type: what has it may derive from it."""
    above = file.parent(node)
    if not any(map(_RUNTIMES.fullmatch, file.paths(node))) or isinstance(
        above, ast.Attribute | ast.arg | ast.AnnAssign
    ):
        return
    telling = isinstance(above, ast.Call) and (
        above.func is node or last_name(above.func) in ("isinstance", "issubclass")
    )
    if not (is_annotation(node, file) or telling or isinstance(above, ast.ClassDef)):
        yield Unread(
            f"what a runtime answers, by a class derived from it ({ast.unparse(node)[:60]} is handed on: call it)"
        )


def is_annotation(node: ast.AST, file: CodeFile) -> bool:
    above = file.parent(node)
    while isinstance(above, ast.expr):
        node, above = above, file.parent(above)
    return node in (getattr(above, "annotation", None), getattr(above, "returns", None))


def derived_class(node: ast.AST, file: CodeFile) -> Iterator[str]:
    for base in node.bases if isinstance(node, ast.ClassDef) else ():
        of = base.value if isinstance(base, ast.Subscript) else base
        paths = file.paths(of)
        if last_name(of) in _RUNNERS or any(map(_RUNTIMES.fullmatch, paths)):
            yield Unread(f"{DERIVED}{ast.unparse(base)[:60]}, which may be one of a runtime that runs models")
        elif not _is_plain_base(of, paths, file):
            yield Unread(f"{DERIVED}{ast.unparse(base)[:60]}: take a class of your own, or one of Python")
    for keyword in node.keywords if isinstance(node, ast.ClassDef) else ():
        if keyword.arg == "metaclass" and last_name(keyword.value) not in _METACLASSES:
            yield Unread(f"a class that is made while it runs ({ast.unparse(keyword)[:60]})")


def _is_plain_base(base: ast.expr, paths: list[str], file: CodeFile) -> bool:
    if isinstance(base, ast.Call):
        return last_name(base.func) in _MADE
    if not paths:
        own = isinstance(base, ast.Name) and all(isinstance(value, ast.ClassDef) for value in file.values(base.id))
        return own and isinstance(base, ast.Name) and (base.id in file.classes or base.id not in file.own)
    packaged = [path for path in paths if file.is_shared(path) and path not in _NO_BASES]
    foreign = [path for path in packaged if not _is_of_python(path) and last_name(base) not in _DERIVED]
    return not foreign and not any(path in _NO_BASES for path in paths)


def _is_of_python(path: str) -> bool:
    return path.partition(".")[0] in sys.stdlib_module_names
