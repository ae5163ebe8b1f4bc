"""Where the values of a file come from: of its own classes, of a package, or from where the file does not say."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.scopes import Scopes, parameters

OWN = ":own"
UNKNOWN = ":unknown"
"""Any other origin is a path of a package or of Python, or a function of another file that makes the value."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PLAIN = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp)
_SHOWN = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_TELLING = ("__name__", "__qualname__", "__module__")
_ANY = ":any"
_ROUNDS = 8
"""Looks at values that are made of one another; what changes after them is unknown, too."""
_Key = tuple[int, str]


class Origins:
    """Of one file. `paths` are what a name of a module stands for, `is_shared` says which of these are no other file's, `makes_own` which
    of the others are classes. `unbound` are methods that other files ask of a class, and give any value as `self`."""

    def __init__(
        self,
        nodes: Sequence[ast.AST],
        scopes: Scopes,
        paths: Callable[[ast.AST | None], Sequence[str]],
        is_shared: Callable[[str], bool],
        is_own: Callable[[ast.expr], bool],
        makes_own: Callable[[str], bool] = lambda _: True,
        unbound: Collection[str] = (),
    ) -> None:
        self._scopes, self._paths, self._is_shared, self._is_own = scopes, paths, is_shared, is_own
        self._makes_own, self._unbound = makes_own, set(unbound)
        self._values: dict[_Key, list[ast.expr]] = {}
        self._known: dict[_Key, frozenset[str]] = {}
        self._asked: list[ast.expr] = []
        self._defined: dict[str, list[ast.AST]] = {}
        self._returned: dict[int, list[ast.expr]] = {}
        self._methods: dict[int, bool] = {}
        spoken = set(_spoken_of(nodes))
        for node in nodes:
            for target, value in _bound(node):
                self._put(target, value)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self._defined.setdefault(node.name, []).append(node)
            if isinstance(node, ast.ClassDef):
                own = [part for part in node.body if not _is_decorated(part, "staticmethod")]
                self._methods |= {id(part): not spoken.isdisjoint((node.name, _ANY)) for part in own}
            if isinstance(node, ast.Return) and node.value is not None:
                self._returned.setdefault(id(self._function(node)), []).append(node.value)
        self.of_own_classes = self._own_attributes()
        """Names of what classes of the file have."""

    def of(self, node: ast.expr) -> frozenset[str]:
        """Every origin that the file shows."""
        if self._key(node) not in self._known:
            self._settle(node)
        return self._known[self._key(node)]

    def stored(self, node: ast.Attribute) -> list[ast.expr]:
        """All that the file gives an attribute of this name, of whatever it is."""
        return self._values.get((0, f".{node.attr}"), [])

    def _settle(self, first: ast.expr) -> None:
        """All of which it is made, what others are made of before these; again until nothing changes."""
        order: list[ast.expr] = []
        waiting, seen = [(first, False)], {self._key(first)}
        while waiting:
            node, done = waiting.pop()
            if done:
                order.append(node)
                continue
            waiting.append((node, True))
            self._asked.clear()
            list(self._of(node))
            for part in self._asked:
                if (key := self._key(part)) not in seen and key not in self._known:
                    seen.add(key)
                    waiting.append((part, False))
        for turn in range(_ROUNDS):
            is_changed = False
            self._asked.clear()
            for node in order:
                key, now = self._key(node), frozenset(self._of(node))
                if now != self._known.get(key):
                    is_changed = True
                    self._known[key] = now | {UNKNOWN} if turn == _ROUNDS - 1 else now
            if not is_changed:
                break

    def _key(self, node: ast.expr) -> _Key:
        """The same for every use of a name, and for every one of an attribute."""
        if isinstance(node, ast.Name):
            return id(self._owner(node)), node.id
        if isinstance(node, ast.Attribute) and (0, f".{node.attr}") in self._values and not self._paths(node):
            return 0, f".{node.attr}"
        return id(node), ""

    def _now(self, node: ast.expr) -> frozenset[str]:
        """As far as it is known."""
        self._asked.append(node)
        return self._known.get(self._key(node), frozenset())

    def _of(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, _PLAIN) or self._is_own(node):
            yield OWN
        elif isinstance(node, _SHOWN):
            parts = node.values if isinstance(node, ast.Dict) else node.elts
            yield from (origin for part in parts for origin in self._now(part))
        elif isinstance(node, ast.IfExp):
            yield from self._now(node.body) | self._now(node.orelse)
        elif isinstance(node, ast.Name):
            yield from self._of_name(node)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        elif isinstance(node, ast.Attribute) and self._paths(node):
            yield from self._of_paths(node)
        elif isinstance(node, ast.Attribute):
            stored = self.stored(node)
            yield from (origin for value in stored for origin in self._now(value))
            yield from () if stored else (self._now(node.value) - {OWN}) or {UNKNOWN}
        elif isinstance(node, ast.Subscript | ast.Starred | ast.Await | ast.NamedExpr):
            yield from self._now(node.value)
        else:
            yield UNKNOWN

    def _owner(self, node: ast.Name) -> ast.AST | None:
        """The function that binds the name, none for the file."""
        scope = self._function(node)
        while scope is not None and (id(scope), node.id) not in self._values and node.id not in parameters(scope):
            scope = self._function(scope)
        return scope

    def _of_name(self, node: ast.Name) -> Iterator[str]:
        scope = self._owner(node)
        is_given = scope is not None and node.id in parameters(scope)
        if scope is not None and is_given:
            is_self = id(scope) in self._methods and node.id == next(iter(_names(scope)), "")
            yield from self._of_self(scope) if is_self else (UNKNOWN,)
        values = self._values.get((id(scope), node.id), [])
        yield from (origin for value in values for origin in self._now(value))
        if node.id in self._defined and not is_given:
            yield OWN
        elif not is_given and (not values or any(self._paths(node))):
            yield from self._of_paths(node)

    def _of_self(self, method: ast.AST) -> Iterator[str]:
        """`CLASS.METHOD(value)` gives a method any value: where a class is only ever called by its name, nobody can ask it for one."""
        yield OWN
        name = getattr(method, "name", "")
        if not _is_decorated(method, "classmethod") and (self._methods[id(method)] or name in self._unbound):
            yield UNKNOWN

    def _of_call(self, node: ast.Call) -> Iterator[str]:
        defined = self._defined.get(last_name(node.func), [])
        shared = self._now(node.func.value) if isinstance(node.func, ast.Attribute) else frozenset()
        if self._paths(node.func):
            yield from self._of_paths(node.func, is_called=True)
        elif any(path not in (OWN, UNKNOWN) for path in shared):
            yield from shared
        elif not defined:
            yield from self._now(node.func) if isinstance(node.func, ast.Name) else (UNKNOWN,)
        for definition in defined:
            returned = self._returned.get(id(definition), [])
            yield from (origin for value in returned for origin in self._now(value))
            yield from (OWN,) if isinstance(definition, ast.ClassDef) else ()

    def _of_paths(self, node: ast.AST, *, is_called: bool = False) -> Iterator[str]:
        """A function of another file may give anything: it is known by its name."""
        paths = [path for path in self._paths(node) if path]
        for path in paths:
            yield path if self._is_shared(path) or (is_called and not self._makes_own(path)) else OWN
        yield from () if paths else (UNKNOWN,)

    def _function(self, node: ast.AST) -> ast.AST | None:
        scope = self._scopes.around(node)
        while scope is not None and not isinstance(scope, _FUNCTIONS):
            scope = self._scopes.around(scope)
        return scope

    def _put(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._values.setdefault((id(self._function(target)), target.id), []).append(value)
        elif isinstance(target, ast.Attribute):
            self._values.setdefault((0, f".{target.attr}"), []).append(value)
        elif isinstance(target, ast.Tuple | ast.List):
            pairs = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
            for at, part in enumerate(target.elts):
                self._put(part, value.elts[at] if pairs and isinstance(value, ast.Tuple | ast.List) else value)
        elif isinstance(target, ast.Starred):
            self._put(target.value, value)

    def _own_attributes(self) -> set[str]:
        names: set[str] = set()
        classes = [node for nodes in self._defined.values() for node in nodes if isinstance(node, ast.ClassDef)]
        for each in classes:
            for part in each.body:
                names |= {last_name(target) for target, _ in _bound(part)} | {getattr(part, "name", "")}
                names |= {last_name(part.target)} if isinstance(part, ast.AnnAssign) else set()
            stored = [node for node in ast.walk(each) if isinstance(node, ast.Attribute)]
            own = [node for node in stored if isinstance(node.value, ast.Name) and self.of(node.value) == {OWN}]
            names |= {node.attr for node in own if isinstance(node.ctx, ast.Store)}
        return names


def _spoken_of(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Names with which more is done than to call them; `_ANY` where a value is asked for its class, and not for the name of that."""
    idle = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    asked = [node for node in nodes if isinstance(node, ast.Attribute)]
    idle |= {id(node.value) for node in asked if node.attr in _TELLING or isinstance(node.ctx, ast.Store)}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in idle:
            yield node.id
        elif id(node) not in idle and last_name(getattr(node, "func", node)) in ("type", "__class__"):
            yield _ANY


def _is_decorated(node: ast.AST, *names: str) -> bool:
    return any(last_name(each) in names for each in getattr(node, "decorator_list", ()))


def _names(scope: ast.AST) -> Iterator[str]:
    args = scope.args if isinstance(scope, _FUNCTIONS) else None
    yield from (arg.arg for arg in (*args.posonlyargs, *args.args)) if args else ()


def _bound(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield node.target, node.iter
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
