"""Workers run beside releases that take numpy 1 alone: nothing of Assay uses what numpy 2 added."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import assay

ADDED = re.compile(
    "acosh?|asinh?|atan[2h]?|astype|bitwise_(count|invert|left_shift|right_shift)|bool|concat|cumulative_(prod|sum)|isdtype|u?long|"
    "matrix_transpose|matvec|permute_dims|pow|strings|trapezoid|unique_(all|counts|inverse|values)|unstack|vecdot|vecmat"
)
"""Names of numpy 2.0 to 2.2 that 1.26 has not (`bool` is an error there)."""


def test_workers_need_no_numpy_2() -> None:
    files = sorted(Path(assay.__file__).parent.rglob("*.py"))
    found = [f"{file.name}: {name}" for file in files for name in _of_numpy(file) if ADDED.fullmatch(name)]
    assert len(files) > 500
    assert found == []


def _of_numpy(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
            yield node.attr
