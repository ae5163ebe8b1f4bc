"""Which functions a worker can come to, read from the sources: rapid type analysis (Bacon and Sweeney, OOPSLA 1996).

A unit is a function, a method, a class or a value of a module. It is reached by its name, through imports and those that hand on, from a
unit that is reached; a method by its name alone, wherever its class is reached. A module that is a value, in a list of families for
instance, is reached with all that it has. What is imported is run: the statements of a module,
and functions that a decorator may keep. More is found than is ever called, and nothing less but by a
computed name, or one with dots (`import a.b`, `a.b.f`)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

Unit = tuple[str, str]
"""Module and name: `f`, `Class`, `Class.method`, or "" for what runs when the module is imported."""
PLAIN_DECORATORS = {
    "cache", "lru_cache", "contextmanager", "property", "staticmethod", "classmethod", "overload", "dataclass", "total_ordering",
    "runtime_checkable", "cached_property", "final", "override", "wraps",
}  # fmt: skip
"""They hand the function to nobody."""


@dataclass
class Module:
    """Its units, and what its names mean that others brought."""

    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))
    units: dict[str, list[ast.AST]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    classes: set[str] = field(default_factory=set)


class Sources:
    """The modules below `root`, whose first name is `package`."""

    def __init__(self, root: Path, package: str) -> None:
        self._root, self._package = root, package

    def path(self, module: str) -> Path | None:
        """Of a module of ours."""
        first, *rest = module.split(".")
        if first != self._package:
            return None
        place = self._root.joinpath(*rest)
        return next(
            (candidate for candidate in (place.with_suffix(".py"), place / "__init__.py") if candidate.is_file()), None
        )

    @cache  # noqa: B019  one instance, as long as the process
    def module(self, name: str) -> Module | None:
        """Parsed, once."""
        path = self.path(name)
        if path is None:
            return None
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = Module(tree)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for node in _statements(tree.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                found.imports |= dict(_imported(node, package))
        for node in tree.body:
            for unit, part in _units(node):
                found.units.setdefault(unit, []).append(part)
            if isinstance(node, ast.ClassDef):
                found.classes.add(node.name)
        return found


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """However deep; expressions hold none."""
    for node in body:
        if isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield node
            yield from _statements(ast.iter_child_nodes(node))


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, tuple[str, str]]]:
    if isinstance(node, ast.Import):
        for name in node.names:
            yield (
                (name.asname, (name.name, ""))
                if name.asname
                else (name.name.split(".")[0], (name.name.split(".")[0], ""))
            )
        return
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    module = ".".join([*above, *([node.module] if node.module else [])])
    for name in node.names:
        yield name.asname or name.name, (module, name.name)


def _units(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    """By name; "" for what runs at import. What is typed alone is no import."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name, node
        if any(_name(decorator) not in PLAIN_DECORATORS for decorator in node.decorator_list):
            yield "", node
    elif isinstance(node, ast.ClassDef):
        for part in node.body:
            method = isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
            yield f"{node.name}.{part.name}" if method else node.name, part  # type: ignore[attr-defined]
        for outer in (*node.bases, *node.keywords, *node.decorator_list):
            yield node.name, outer
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        plain = all(isinstance(target, ast.Name | ast.Tuple) for target in targets)
        names = [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
        for name in names if plain else [""]:
            yield name, node
    elif isinstance(node, ast.If | ast.Try | ast.With | ast.For):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _units(child)
            else:
                yield "", child
    else:
        yield "", node


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called).rpartition(".")[2]


class Reached:
    """The units that are reached from `roots`; of a module as root, all that it has."""

    def __init__(self, sources: Sources, roots: Iterable[Unit | str]) -> None:
        self._sources = sources
        self.units: set[Unit] = set()
        self._modules: set[str] = set()
        self._called: set[str] = set()
        self._methods: dict[str, set[Unit]] = {}
        self._waiting: list[Unit] = []
        for root in roots:
            if isinstance(root, str):
                self._import(root)
                for name in self._of(root).units:
                    self._reach((root, name))
            else:
                self._reach(root)
        while self._waiting:
            self._follow(self._waiting.pop())

    def files(self) -> list[tuple[str, Path]]:
        """Of each module of which anything is reached."""
        rows = ((module, self._sources.path(module)) for module in sorted(self._modules))
        return [(module, path) for module, path in rows if path is not None]

    def trees(self) -> dict[str, ast.Module]:
        """Of the same modules: each is parsed once."""
        return {module: self._of(module).tree for module, _ in self.files()}

    def runs(self, module: str, line: int) -> bool:
        """Whether that line is one of what is reached."""
        units = self._of(module).units
        return any(
            getattr(part, "lineno", 0) <= line <= getattr(part, "end_lineno", 0)
            for name, parts in units.items()
            if (module, name) in self.units
            for part in parts
        )

    def _of(self, module: str) -> Module:
        return self._sources.module(module) or Module()

    def _reach(self, unit: Unit) -> None:
        here = self._of(unit[0])
        if unit in self.units or not (unit[1] in here.units or unit[1] in here.classes):
            return
        self.units.add(unit)
        self._waiting.append(unit)
        self._import(unit[0])

    def _import(self, module: str) -> None:
        """Its statements run, and those of the packages around it."""
        parts = module.split(".")
        for count in range(1, len(parts) + 1):
            name = ".".join(parts[:count])
            if name not in self._modules and self._sources.module(name) is not None:
                self._modules.add(name)
                self._reach((name, ""))

    def _follow(self, unit: Unit) -> None:
        module, name = unit
        here = self._of(module)
        if name in here.classes:
            self._live(module, name)
        for part in here.units.get(name, ()):
            owners = set()
            for node in ast.walk(part):
                match node:
                    case ast.Name(id=used):
                        self._named(module, used)
                        if used in here.imports and id(node) not in owners:
                            self._as_value(here.imports[used])
                    case ast.Attribute(value=ast.Name(id=owner) as value, attr=used) if owner in here.imports:
                        owners.add(id(value))
                        self._through(here.imports[owner], used)
                        self._call(used)
                    case ast.Attribute(attr=used):
                        self._call(used)
                    case ast.ImportFrom() | ast.Import():
                        for _, (other, what) in _imported(node, ""):
                            self._import(".".join(filter(None, (other, what))))

    def _named(self, module: str, used: str) -> None:
        here = self._of(module)
        if used in here.units or used in here.classes:
            self._reach((module, used))
        elif used in here.imports:
            other, what = here.imports[used]
            self._import(other)
            if (other, what) != (module, used):  # a package that imports a module of its own
                self._named(other, what)

    def _as_value(self, target: tuple[str, str]) -> None:
        """What was imported is no module, or whoever is given it may ask for anything that it has."""
        module = ".".join(filter(None, target))
        if (known := self._sources.module(module)) is not None:
            self._import(module)
            for name in known.units:
                self._reach((module, name))

    def _through(self, target: tuple[str, str], used: str) -> None:
        """`used` of a module that was imported, as itself or from its package."""
        other, what = target
        for module in (f"{other}.{what}" if what else other, other):
            if self._sources.module(module) is not None:
                self._import(module)
                self._named(module, used)
                return

    def _call(self, name: str) -> None:
        if name not in self._called:
            self._called.add(name)
            for unit in self._methods.get(name, ()):
                self._reach(unit)

    def _live(self, module: str, name: str) -> None:
        """Its methods can be called from now on: Python's own at once, the others by their names."""
        for unit in self._of(module).units:
            owner, _, method = unit.partition(".")
            if owner != name or not method:
                continue
            self._methods.setdefault(method, set()).add((module, unit))
            if method in self._called or (method.startswith("__") and method.endswith("__")):
                self._reach((module, unit))
