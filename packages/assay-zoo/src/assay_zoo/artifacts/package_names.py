"""Names that the code of a package speaks of: what it never asks of a value, a submission may give one."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_APART = ("tests", "testing", "_vendor")
"""Folders of a package that no values are given to."""
_ASKED = re.compile(rb"(?:\.\s*|\bdef |\bclass |[\"'])([^\W\d]\w*)")
_RUNNING = (("onnxruntime", "capi/*.py"), ("onnx", "reference/reference_evaluator.py"), ("onnx", "backend/base.py"))
"""Where packages of the zoo have the classes that run a model, as far as these are Python."""


def may_ask_for(package: str, name: str) -> bool:
    """Whether the Python code of an installed package has `name` as an attribute, a method or a text. True where that cannot be read:
    of Python itself, of what is not installed, of one compiled file. Nothing is imported."""
    words = _words(package)
    return words is None or name.encode() in words


@cache
def _words(package: str) -> frozenset[bytes] | None:
    """All such names, read once."""
    folder = _folder(package)
    if folder is None:
        return None
    files = (file for file in folder.rglob("*.py") if not set(file.relative_to(folder).parts) & set(_APART))
    return frozenset(word for file in files for word in _ASKED.findall(file.read_bytes()))


@cache
def methods_that_run() -> frozenset[str]:
    """Of the classes that have a method `run`, in the runtimes that are installed; no properties, which are only values."""
    names: set[str] = set()
    for package, part in _RUNNING:
        folder = _folder(package)
        for file in sorted(folder.glob(part)) if folder else ():
            classes = [node for node in ast.parse(file.read_bytes()).body if isinstance(node, ast.ClassDef)]
            parts = [[part for part in each.body if isinstance(part, ast.FunctionDef)] for each in classes]
            methods = [{part.name for part in of if not part.decorator_list} for of in parts]
            names.update(*(each for each in methods if "run" in each))
    return frozenset(name for name in names if not name.startswith("_"))


def _folder(package: str) -> Path | None:
    if package in sys.stdlib_module_names:
        return None
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec and spec.origin and Path(spec.origin).name == "__init__.py" else None
