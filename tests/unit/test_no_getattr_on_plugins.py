"""What a plug-in may do is a protocol in `assay.ports`: no source asks a plug-in for an attribute by its name."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay.ports

PACKAGES = Path(__file__).parents[2] / "packages"
ASKING = {"getattr", "hasattr", "getattr_static", "attrgetter", "methodcaller"}
PLUGINS = {
    "backend",
    "engine",
    "launcher",
    "loaded",
    "metric",
    "plugin",
    "report",
    "sandbox",
    "store",
    "suite",
    "transform",
}


def _abilities() -> set[str]:
    """The members of the optional protocols: those that can be checked when running."""
    kinds = [
        one for _, one in inspect.getmembers(assay.ports, inspect.isclass) if one.__dict__.get("_is_runtime_protocol")
    ]
    return {name for kind in kinds for name in vars(kind) if not name.startswith("_")}


def asked_of_plugins(source: str) -> Iterator[int]:
    """The lines where an attribute is asked for by its name: of what is called as a plug-in is, or one that only plug-ins have."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in ASKING:
            continue
        texts = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
        if _name(node.args[0]) in PLUGINS or texts & _abilities():
            yield node.lineno


def _name(asked: ast.expr) -> str:
    """`engine` of `self._engine`, `backend` of `found.backends[name]`."""
    while isinstance(asked, ast.Subscript | ast.Call):
        asked = asked.value if isinstance(asked, ast.Subscript) else asked.func
    return ast.unparse(asked).rpartition(".")[2].strip("_").removesuffix("s")


@pytest.mark.parametrize(
    "line",
    [
        'getattr(backend, "name", "")',
        'hasattr(self._engine, "anything")',
        'getattr(found.backends["x"], "anything", ())',
        'getattr(one, "requires", ())',
        'operator.attrgetter("call_times")(one)',
    ],
)
def test_it_is_found(line: str) -> None:
    assert list(asked_of_plugins(line)) == [1]


def test_what_is_no_plugin_may_be_asked() -> None:
    assert {"bind", "dynamic", "prepare_to_load", "uncalibrated", "variants"} <= _abilities()
    assert not list(asked_of_plugins('getattr(error.code(), "name", "")'))


def test_no_source_asks_a_plugin_for_an_attribute_by_its_name() -> None:
    sources = sorted(PACKAGES.rglob("*.py"))
    assert len(sources) > 500
    asked = [f"{path.relative_to(PACKAGES)}:{line}" for path in sources for line in asked_of_plugins(path.read_text())]
    assert not asked, f"make a protocol of it in assay.ports: {asked}"
