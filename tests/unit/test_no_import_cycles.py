"""No module imports another that leads back to it: not inside a function, not for its types alone, in neither package."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGES = Path(__file__).parents[2] / "packages"
ROOTS = {"assay": PACKAGES / "assay/src/assay", "assay_zoo": PACKAGES / "assay-zoo/src/assay_zoo"}


def modules() -> dict[str, Path]:
    """Every module of both packages, by name."""
    return {
        ".".join((root, *path.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__"): path
        for root, folder in ROOTS.items()
        for path in sorted(folder.rglob("*.py"))
    }


def imported(source: str, known: Mapping[str, object]) -> Iterator[str]:
    """The modules of ours that a source names in an import, wherever that stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                if whole in known or node.module in known:
                    yield whole if whole in known else node.module


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of modules that lead back to each other (Tarjan 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    waiting: list[str] = []
    rings: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        waiting.append(name)
        for other in graph[name]:
            if other not in number:
                visit(other)
            if other in waiting:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == number[name]:
            group = waiting[waiting.index(name) :]
            del waiting[waiting.index(name) :]
            if len(group) > 1:
                rings.append(sorted(group))

    for name in graph:
        if name not in number:
            visit(name)
    return rings


def test_a_cycle_is_found() -> None:
    known = dict.fromkeys(("a", "a.b", "a.c", "a.d"))
    lazy, types = "def f():\n    from a import c", "if TYPE_CHECKING:\n    from a.b import B"
    graph = {"a": set(), "a.b": set(imported(lazy, known)), "a.c": set(imported(types, known)), "a.d": {"a.b"}}
    assert cycles(graph) == [["a.b", "a.c"]]


def test_no_module_leads_back_to_itself() -> None:
    known = modules()
    assert len(known) > 700
    graph = {name: set(imported(path.read_text(encoding="utf-8"), known)) - {name} for name, path in known.items()}
    rings = cycles(graph)
    assert not rings, "move what both need into a module of its own: " + "; ".join(", ".join(cycle) for cycle in rings)
