"""A function fits a screen, and a file has one idea: at most 50 and 300 lines, in all rooms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("packages", "benchmarks", "tests", "tools", "examples")
FUNCTION_LINES = 50
FILE_LINES = 300


def sources() -> list[Path]:
    return [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")) if ".venv" not in path.parts]


def long_functions(source: str) -> Iterator[str]:
    """Name and lines of each that is too long. What has no more lines than a function may have is not parsed."""
    nodes: list[ast.AST] = [ast.parse(source)] if source.count("\n") >= FUNCTION_LINES else []
    for node in nodes:  # grows meanwhile
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{node.name} ({lines} lines)"
        # No expression holds a function that has lines of its own.
        nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]


def test_a_long_function_is_found() -> None:
    body = "    pass\n" * FUNCTION_LINES
    assert list(long_functions(f"async def f():\n{body}")) == ["f (51 lines)"]
    assert not list(long_functions(f"def f():\n{body[:-9]}"))


def test_every_function_fits_a_screen() -> None:
    paths = sources()
    assert len(paths) > 1000
    lines = [
        f"{path.relative_to(ROOT)}: {function}"
        for path in paths
        for function in long_functions(path.read_text(encoding="utf-8"))
    ]
    assert not lines, f"find the second idea in it, and its name: {lines}"


def test_every_file_has_one_idea() -> None:
    longer = sorted(
        str(path.relative_to(ROOT))
        for path in sources()
        if len(path.read_text(encoding="utf-8").splitlines()) > FILE_LINES
    )
    assert not longer, f"split along its ideas: {longer}"
