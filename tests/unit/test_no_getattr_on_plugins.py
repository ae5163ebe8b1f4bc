"""What a plug-in may do is a protocol in `assay.ports`: no source asks a plug-in for an attribute by its name, whatever way it takes."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay.ports

PACKAGES = Path(__file__).parents[2] / "packages"
ASKING = {"getattr", "hasattr", "getattr_static", "attrgetter", "methodcaller", "__getattribute__"}
LISTING = {"vars", "dir", "getmembers", "getmembers_static"}
PLUGINS = {
    "backend",
    "engine",
    "generator",
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
"""What plug-ins are called."""
PORTS = {
    name
    for name, getmember in inspect.getmembers(assay.ports, inspect.isclass)
    if getattr(getmember, "_is_protocol", False)
}
WORDS = re.compile(rf"\b({'|'.join(ASKING | LISTING | {'__dict__', '__getattr__', 'AttributeError', 'match'})})\b")
"""Without one of them nothing is asked for by its name: such a source is not parsed, which takes most of the time."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.Module
Loop = ast.For | ast.AsyncFor | ast.comprehension


def _abilities() -> set[str]:
    """The members of the optional protocols: those that can be checked when running."""
    kinds = [
        getmember
        for _, getmember in inspect.getmembers(assay.ports, inspect.isclass)
        if getmember.__dict__.get("_is_runtime_protocol")
    ]
    return {name for kind in kinds for name in vars(kind) if not name.startswith("_")}


ABILITIES = _abilities()


def asked_of_plugins(source: str) -> Iterator[int]:
    """The lines where an attribute is asked for by its name: of what is called, annotated or taken as a plug-in, or one that only
    plug-ins have; and those where the asking itself is given another name, so that nobody sees of what it asks."""
    if not WORDS.search(source):
        return
    tree = ast.parse(source)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    line_numbers = {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id in ("getattr", "hasattr", "vars", "dir") and id(node) not in called
    }
    line_numbers |= {
        alias.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in ASKING | LISTING and alias.asname not in (None, alias.name)
    }
    for scope in ast.walk(tree):
        if isinstance(scope, Scope):
            names = _plugins_in(scope)
            line_numbers |= {
                node.lineno for node in _own(scope) if isinstance(node, ast.stmt | ast.expr) and _asks(node, names)
            }
    yield from sorted(line_numbers)


def _own(scope: Scope) -> Iterator[ast.AST]:
    """The nodes of a scope: of a function with those of the functions inside it, which see its names; of a module without."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not (isinstance(scope, ast.Module) and isinstance(node, Function)):
            waiting += ast.iter_child_nodes(node)


def _plugins_in(scope: Scope) -> set[str]:
    """Other names that plug-ins have in a scope: by annotation, assignment, or from a list of them."""
    names: set[str] = set()
    if isinstance(scope, Function):
        given = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
        names |= {
            argument.arg for argument in given if argument.annotation is not None and _is_port(argument.annotation)
        }
    own = list(_own(scope))
    pairs = [
        *((node.targets[0], node.value) for node in own if isinstance(node, ast.Assign)),
        *((node.target, node.value) for node in own if isinstance(node, ast.NamedExpr)),
        *((node.target, node.iter) for node in own if isinstance(node, Loop)),
        *((node.optional_vars, node.context_expr) for node in own if isinstance(node, ast.withitem)),
    ]
    names |= {
        node.target.id
        for node in own
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and _is_port(node.annotation)
    }
    for _ in pairs:  # a name of a name
        more = {to.id for to, of in pairs if isinstance(to, ast.Name) and _is_plugin(of, names)}
        if more <= names:
            break
        names |= more
    return names


def _is_port(annotation: ast.expr) -> bool:
    return any(part in PORTS for part in ast.unparse(annotation).replace("'", "").replace(".", " ").split())


def _asks(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Call):
        return _call_asks(node, names)
    if isinstance(node, ast.Attribute):
        return node.attr in ("__dict__", "__getattribute__", "__getattr__") and _is_plugin(node.value, names)
    if isinstance(node, ast.Match):
        patterns = [
            pattern_node
            for case in node.cases
            for pattern_node in ast.walk(case)
            if isinstance(pattern_node, ast.MatchClass)
        ]
        return any(
            pattern.kwd_attrs and (_is_plugin(node.subject, names) or set(pattern.kwd_attrs) & ABILITIES)
            for pattern in patterns
        )
    if isinstance(node, ast.Try):
        silent = [
            handler
            for handler in node.handlers
            if handler.type is not None
            and "AttributeError" in ast.unparse(handler.type)
            and not any(isinstance(part, ast.Raise) for part in ast.walk(handler))
        ]
        used = [part for line in node.body for part in ast.walk(line) if isinstance(part, ast.Attribute)]
        return bool(silent) and any(_is_plugin(part.value, names) for part in used)
    return False


def _call_asks(node: ast.Call, names: set[str]) -> bool:
    function = node.func.func if isinstance(node.func, ast.Call) else node.func  # attrgetter("x")(engine)
    name = ast.unparse(function).rpartition(".")[2]
    if name in LISTING:
        return any(_is_plugin(arg, names) for arg in node.args)
    if name not in ASKING:
        return False
    texts = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
    return bool(texts & ABILITIES) or any(_is_plugin(arg, names) for arg in node.args)


def _is_plugin(asked: ast.expr, names: set[str]) -> bool:
    """`engine` of `self._engine`, `backend` of `found.backends[name]`, and the class of either."""
    if isinstance(asked, ast.Call) and ast.unparse(asked.func) == "type" and asked.args:
        return _is_plugin(asked.args[0], names)
    while isinstance(asked, ast.Subscript | ast.Call):
        asked = asked.value if isinstance(asked, ast.Subscript) else asked.func
    if isinstance(asked, ast.Name) and asked.id in names:
        return True
    return ast.unparse(asked).rpartition(".")[2].strip("_").removesuffix("s") in PLUGINS


@pytest.mark.parametrize(
    "line",
    [
        'getattr(backend, "name", "")',
        'hasattr(self._engine, "anything")',
        'getattr(found.backends["x"], "anything", ())',
        'getattr(one, "requires", ())',
        'operator.attrgetter("call_times")(one)',
        'operator.attrgetter("anything")(engine)',
        'operator.methodcaller("anything")(self._engine)',
        'ask = getattr; ask(one, "anything")',
        "map(hasattr, everything, names)",
        "from builtins import getattr as ask",
        "from operator import attrgetter as ask",
        '"anything" in vars(backend)',
        '"anything" in dir(backend)',
        '"anything" in backend.__dict__',
        '"anything" in type(backend).__dict__',
        "inspect.getmembers(engine)",
        'engine.__getattribute__("anything")',
        'object.__getattribute__(engine, "anything")',
        'inspect.getattr_static(type(engine), "anything")',
        'thing = other = None; thing = backend; more = thing; getattr(more, "anything")',
        'found = [one for one in self._backends if hasattr(one, "anything")]',
        'if (one := plugins.backends["x"]) and hasattr(one, "anything"): pass',
    ],
)
def test_it_is_found(line: str) -> None:
    assert set(asked_of_plugins(line)) == {1}


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("match engine:\n    case object(anything=found):\n        found()", 1),
        ("match one:\n    case object(call_times=found):\n        found()", 1),
        ("try:\n    found = engine.anything\nexcept AttributeError:\n    found = None", 1),
        ("try:\n    found = engine.anything\nexcept (KeyError, AttributeError):\n    pass", 1),
        ("def of(thing: Engine | None) -> bool:\n    return hasattr(thing, 'anything')", 2),
        ("def of(thing: 'Backend') -> bool:\n    return 'anything' in vars(thing)", 2),
        ("thing: Backend = load(name)\nhasattr(thing, 'anything')", 2),
        ("for one in backends:\n    hasattr(one, 'anything')", 2),
        ("with opened(flow) as engine:\n    getattr(engine, name)", 2),
    ],
)
def test_it_is_found_on_several_lines(source: str, line: int) -> None:
    assert list(asked_of_plugins(source)) == [line]


@pytest.mark.parametrize(
    "source",
    [
        'getattr(error.code(), "name", "")',
        "vars(module)",
        "match engine:\n    case SupportsBind():\n        engine.bind()",
        "try:\n    found = metric.metrics\nexcept AttributeError as error:\n    raise BrokenMetric() from error",
        "thing = backend.name\nvars(module)",
    ],
)
def test_what_is_no_plugin_may_be_asked(source: str) -> None:
    assert {"bind", "dynamic", "prepare_to_load", "uncalibrated", "variants"} <= ABILITIES
    assert not list(asked_of_plugins(source))


def test_no_source_asks_a_plugin_for_an_attribute_by_its_name() -> None:
    sources = sorted(PACKAGES.rglob("*.py"))
    assert len(sources) > 500
    asked = [f"{path.relative_to(PACKAGES)}:{line}" for path in sources for line in asked_of_plugins(path.read_text())]
    assert not asked, f"make a protocol of it in assay.ports: {asked}"
