"""Where the values of a file come from: of its own classes, of a package, or from where the file does not say."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.scopes import Scopes, parameters

OWN = ":own"
UNKNOWN = ":unknown"
"""Any other origin is a path of a package or of Python."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_PLAIN = (ast.Constant, ast.JoinedStr, ast.BinOp, ast.Compare, ast.BoolOp, ast.UnaryOp)
_SHOWN = (ast.List, ast.Tuple, ast.Set, ast.Dict)
_MOST = 500
_DEEPEST = 60
"""Expressions that are followed for one, and one inside another: what is left then is unknown."""
_Key = tuple[int, str]


class Origins:
    """Of one file. `paths` are what a name of a module stands for, `is_shared` says which of these are no other file's."""

    def __init__(
        self,
        nodes: Sequence[ast.AST],
        scopes: Scopes,
        paths: Callable[[ast.AST | None], Sequence[str]],
        is_shared: Callable[[str], bool],
        is_own: Callable[[ast.expr], bool],
    ) -> None:
        self._scopes, self._paths, self._is_shared, self._is_own = scopes, paths, is_shared, is_own
        self._values: dict[_Key, list[ast.expr]] = {}
        self._of_attributes: dict[str, list[ast.expr]] = {}
        self._known: dict[int, frozenset[str]] = {}
        self._left, self._is_cut = _MOST, False
        self._defined: dict[str, list[ast.AST]] = {}
        self._returned: dict[int, list[ast.expr]] = {}
        self._methods: set[int] = set()
        self._waiting: set[int] = set()
        for node in nodes:
            for target, value in _bound(node):
                self._put(target, value)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                self._defined.setdefault(node.name, []).append(node)
            if isinstance(node, ast.ClassDef):
                self._methods |= {id(part) for part in node.body if not _is_static(part)}
            if isinstance(node, ast.Return) and node.value is not None:
                self._returned.setdefault(id(self._function(node)), []).append(node.value)
        self.of_own_classes = self._own_attributes()
        """Names of what classes of the file have."""

    def of(self, node: ast.expr) -> frozenset[str]:
        """Every origin that the file shows."""
        if id(node) in self._known:
            return self._known[id(node)]
        if id(node) in self._waiting or not self._left or len(self._waiting) > _DEEPEST:
            self._is_cut = True
            return frozenset(() if id(node) in self._waiting else (UNKNOWN,))
        is_first = not self._waiting
        if is_first:
            self._is_cut, self._left = False, _MOST
        self._left -= 1
        self._waiting.add(id(node))
        found = frozenset(self._of(node))
        self._waiting.discard(id(node))
        if is_first or not self._is_cut:
            self._known[id(node)] = found
        self._left = self._left if self._waiting else _MOST
        return found

    def _of(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, _PLAIN) or self._is_own(node):
            yield OWN
        elif isinstance(node, _SHOWN):
            parts = node.values if isinstance(node, ast.Dict) else node.elts
            yield from (each for part in parts for each in self.of(part))
        elif isinstance(node, ast.IfExp):
            yield from self.of(node.body) | self.of(node.orelse)
        elif isinstance(node, ast.Name):
            yield from self._of_name(node)
        elif isinstance(node, ast.Call):
            yield from self._of_call(node)
        elif isinstance(node, ast.Attribute) and self._paths(node):
            yield from self._of_paths(node)
        elif isinstance(node, ast.Attribute):
            stored = self._of_attributes.get(node.attr, [])
            yield from (each for value in stored for each in self.of(value))
            yield from () if stored else (self.of(node.value) - {OWN}) or {UNKNOWN}
        elif isinstance(node, ast.Subscript | ast.Starred | ast.Await | ast.NamedExpr):
            yield from self.of(node.value)
        else:
            yield UNKNOWN

    def _of_name(self, node: ast.Name) -> Iterator[str]:
        scope = self._function(node)
        while scope is not None and (id(scope), node.id) not in self._values and node.id not in parameters(scope):
            scope = self._function(scope)
        is_given = scope is not None and node.id in parameters(scope)
        if scope is not None and is_given:
            is_self = id(scope) in self._methods and node.id == next(iter(_names(scope)), "")
            yield OWN if is_self else UNKNOWN
        values = self._values.get((id(scope), node.id), [])
        yield from (each for value in values for each in self.of(value))
        if node.id in self._defined and not is_given:
            yield OWN
        elif not values and not is_given:
            yield from self._of_paths(node)

    def _of_call(self, node: ast.Call) -> Iterator[str]:
        defined = self._defined.get(last_name(node.func), [])
        shared = self.of(node.func.value) if isinstance(node.func, ast.Attribute) else frozenset()
        if self._paths(node.func):
            yield from self._of_paths(node.func)
        elif any(path not in (OWN, UNKNOWN) for path in shared):
            yield from shared
        elif not defined:
            yield from self.of(node.func) if isinstance(node.func, ast.Name) else (UNKNOWN,)
        for definition in defined:
            returned = self._returned.get(id(definition), [])
            yield from (each for value in returned for each in self.of(value))
            yield from (OWN,) if isinstance(definition, ast.ClassDef) else ()

    def _of_paths(self, node: ast.AST) -> Iterator[str]:
        paths = self._paths(node)
        yield from (path if self._is_shared(path) else OWN for path in paths if path)
        yield from () if any(paths) else (UNKNOWN,)

    def _function(self, node: ast.AST) -> ast.AST | None:
        scope = self._scopes.around(node)
        while scope is not None and not isinstance(scope, _FUNCTIONS):
            scope = self._scopes.around(scope)
        return scope

    def _put(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._values.setdefault((id(self._function(target)), target.id), []).append(value)
        elif isinstance(target, ast.Attribute):
            self._of_attributes.setdefault(target.attr, []).append(value)
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
            names |= {node.attr for node in stored if isinstance(node.ctx, ast.Store) and self._is_of_class(node.value)}
        return names

    def _is_of_class(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and self.of(node) == {OWN}


def _is_static(node: ast.stmt) -> bool:
    return any(last_name(each) == "staticmethod" for each in getattr(node, "decorator_list", ()))


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
