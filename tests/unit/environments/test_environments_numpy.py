"""Workers run beside releases that take numpy 1 alone: nothing of Assay uses what numpy 2 added."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay

ADDED = re.compile(
    "acosh?|asinh?|atan[2h]?|astype|bitwise_(count|invert|left_shift|right_shift)|bool|concat|cumulative_(prod|sum)|isdtype|u?long|"
    "matrix_transpose|matvec|permute_dims|pow|strings|trapezoid|unique_(all|counts|inverse|values)|unstack|vecdot|vecmat"
)
"""Names of numpy 2.0 to 2.2 that 1.26 has not (`bool` is an error there)."""


@pytest.mark.heavy
def test_workers_need_no_numpy_2() -> None:
    files = sorted(Path(assay.__file__).parent.rglob("*.py"))
    lines = [
        f"{file.name}: {name}"
        for file in files
        if "numpy" in (text := file.read_text(encoding="utf-8"))
        for name in _of_numpy(text)
        if ADDED.fullmatch(name)
    ]
    assert len(files) > 500
    assert lines == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import numpy as np\nnp.vecdot(a, b)", ["vecdot"]),
        ("import numpy\nnumpy.concat(a)", ["concat"]),
        ("def f():\n    import numpy as own\n    own.astype(a)", ["astype"]),
        ("import numpy.linalg\nnumpy.pow(a, b)", ["pow"]),
        ("from numpy import vecdot as dot, zeros", ["vecdot", "zeros"]),
        ("import numpy as np\ndot = np.vecdot if hasattr(np, 'vecdot') else other", []),
        ("import torch as np\nnp.concat(a)", []),
        ("a.astype(b)", []),
    ],
)
def test_every_way_to_a_name_of_numpy_is_seen(text: str, names: list[str]) -> None:
    assert list(_of_numpy(text)) == names


def _of_numpy(text: str) -> Iterator[str]:
    """Names that a file takes from numpy, but for those that it asks for first with `hasattr`."""
    nodes = list(ast.walk(ast.parse(text)))
    modules: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "numpy" or (alias.name.startswith("numpy.") and not alias.asname):
                    modules.add(alias.asname or "numpy")
    asked = {name for node in nodes for name in _asked_for(node, modules)}
    for node in nodes:
        match node:
            case ast.ImportFrom("numpy", names, 0):
                yield from (alias.name for alias in names)
            case ast.Attribute(ast.Name(module), name) if module in modules and name not in asked:
                yield name


def _asked_for(node: ast.AST, modules: set[str]) -> Iterator[str]:
    match node:
        case ast.Call(ast.Name("hasattr"), [ast.Name(module), ast.Constant(str(name))]) if module in modules:
            yield name
