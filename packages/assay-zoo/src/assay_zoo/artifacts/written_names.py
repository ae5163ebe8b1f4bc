"""Which names a file can give to `getattr`: those that are written in it, in a tuple, a dict or a text with a part that is not known.

A name of the file counts only where everything that binds it is read here, and where nothing can change what it stands for.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import groupby, product

Name = tuple[str | None, ...]
"""Parts one after the other; None is any text."""
UNKNOWN: list[Name] = [(None,)]
_MOST = 200
_LONGEST = 1000
_READING = ("len", "sorted", "list", "tuple", "set", "frozenset", "enumerate", "zip", "reversed", "print")
_ONE_OF = ("min", "max")
"""Of one argument they give an element of it, of more one of these."""
_LOOKING = ("get", "index", "count")
_VIEWS = ("items", "keys", "values")
"""What these give leads to the dict itself, so that it may only be read."""
_COPIES = ("sorted", "list", "tuple", "set", "frozenset", "reversed")
_SCOPES = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
_Source = tuple[ast.expr, int | None, bool]
"""An expression; the place in a tuple, None for all of it; whether it is each of its elements."""


class WrittenNames:
    """Of one file, or of one function in it, which has `outer` around it. `star` is asked what `from MODULE import *` brings; nothing
    means that it is not known. `kept` are lists, sets and dicts of a file that no other one can change."""

    def __init__(
        self,
        tree: ast.AST,
        star: Callable[[str], Sequence[str]],
        outer: WrittenNames | None = None,
        kept: Collection[str] = (),
    ) -> None:
        self._outer, self._kept = outer, kept
        self._sources: dict[str, list[_Source]] = {}
        self._bound: Counter[str] = Counter()
        self._everything = False
        self._known: dict[str, list[Name]] = {}
        nodes = list(ast.walk(tree))
        elsewhere = {one for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for one in node.names}
        for node in nodes:
            self._bind(node, star)
        self._own = (bound_here(tree) | self._nowhere_else()) - elsewhere
        read = {id(one) for node in nodes for one in self._only_read(node)}
        self._exposed = {
            one.id
            for one in nodes
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and id(one) not in read
        }

    def binds(self, name: str) -> bool:
        """Whether a name may be another thing in this file than it is in Python."""
        here = self._everything or self._bound[name] > 0
        return here or (self._outer is not None and self._outer.binds(name))

    def of(self, node: ast.expr) -> list[Name]:
        """Every text that an expression may give, each once."""
        found = list(dict.fromkeys(self._texts(node)))
        return found if len(found) <= _MOST else UNKNOWN

    def _texts(self, node: ast.expr) -> list[Name]:
        found: list[Name] = UNKNOWN
        if isinstance(node, ast.Constant):
            found = [(node.value,)] if isinstance(node.value, str) else UNKNOWN
        elif isinstance(node, ast.Name):
            found = self._owner(node.id)._of_name(node.id)
        elif isinstance(node, ast.JoinedStr):
            found = _joined([self.of(one) for one in node.values])
        elif isinstance(node, ast.FormattedValue):
            found = self.of(node.value) if node.format_spec is None and node.conversion == -1 else UNKNOWN
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            found = _joined([self.of(node.left), self.of(node.right)])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            found = _before("%", self.of(node.left))
        elif isinstance(node, ast.IfExp):
            found = [*self.of(node.body), *self.of(node.orelse)]
        elif isinstance(node, ast.Subscript):
            found = self._values(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found = self._of_method(node, node.func)
        return found

    def _of_method(self, call: ast.Call, method: ast.Attribute) -> list[Name]:
        if method.attr == "format":
            return _before("{}", self.of(method.value))
        starred = any(isinstance(one, ast.Starred) for one in call.args)
        if method.attr == "get" and call.args and not starred and not call.keywords:
            return [*self._values(method.value), *(one for each in call.args[1:] for one in self.of(each))]
        return UNKNOWN

    def _nowhere_else(self) -> set[str]:
        """Names that a file binds in this function alone: those of its comprehensions too."""
        if self._outer is None or self._outer.binds(""):
            return set()
        return {name for name, many in self._bound.items() if many == self._outer._bound[name]}

    def _owner(self, name: str) -> WrittenNames:
        """The function whose own name it is, or the file."""
        return self if name in self._own or self._outer is None else self._outer._owner(name)

    def _of_name(self, name: str) -> list[Name]:
        if name not in self._known:
            self._known[name] = UNKNOWN  # where it is made of itself
            found = list(dict.fromkeys(one for source in self._of(name) for one in self._given(*source)))
            self._known[name] = found if 0 < len(found) <= _MOST else UNKNOWN
        return self._known[name]

    def _of(self, name: str) -> list[_Source]:
        """What binds it; nothing where something else may, as Python does with `__doc__`."""
        found = self._sources.get(name, [])
        alone = len(found) == self._bound[name] and not self._everything and not name.startswith("__")
        return found if alone else []

    def _given(self, value: ast.expr, at: int | None, each: bool) -> list[Name]:
        return self._unpacked(value, at) if at is not None else self._each(value) if each else self.of(value)

    def _unpacked(self, value: ast.expr, at: int) -> list[Name]:
        """The names at a place of each element: of pairs that are written out, of `items`, `enumerate` and `zip`."""
        plain = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        if isinstance(value, ast.Call) and plain in ("enumerate", "zip") and not self.binds(plain):
            if plain == "enumerate":
                return self._each(value.args[0]) if at == 1 and value.args else UNKNOWN
            starred = any(isinstance(one, ast.Starred) for one in value.args)
            return self._each(value.args[at]) if at < len(value.args) and not starred else UNKNOWN
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "items":
            return self._each(value.func.value) if at == 0 else self._values(value.func.value)
        found: list[Name] = []
        for one in self._elements(value):
            pair = one.elts if isinstance(one, ast.Tuple) else []
            starred = any(isinstance(each, ast.Starred) for each in pair)
            found += self.of(pair[at]) if at < len(pair) and not starred else UNKNOWN
        return found or UNKNOWN

    def _each(self, value: ast.expr) -> list[Name]:
        """Every element of what is iterated over."""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            copies = value.func.id in _COPIES and not self.binds(value.func.id) and value.args
            return self._each(value.args[0]) if copies else UNKNOWN
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ("keys", "values")
        ):
            return self._values(value.func.value) if value.func.attr == "values" else self._each(value.func.value)
        return [one for each in self._elements(value) for one in self.of(each)] or UNKNOWN

    def _values(self, value: ast.expr) -> list[Name]:
        """Of a dict, or what a place of a list has."""
        displays = self._displays(value)
        parts = [each for one in displays for each in (one.values if isinstance(one, ast.Dict) else one.elts)]
        return [one for each in parts for one in self.of(each)] or UNKNOWN

    def _elements(self, value: ast.expr) -> list[ast.expr]:
        """Of a list, a tuple or a set that is written out, the keys of a dict; nothing where they are not known."""
        found: list[ast.expr] = []
        for one in self._displays(value):
            parts = one.keys if isinstance(one, ast.Dict) else one.elts
            if not parts or any(each is None or isinstance(each, ast.Starred) for each in parts):
                return []
            found += [each for each in parts if each is not None]
        return found

    def _displays(self, value: ast.expr) -> list[ast.List | ast.Tuple | ast.Set | ast.Dict]:
        if isinstance(value, ast.List | ast.Tuple | ast.Set | ast.Dict):
            return [value]
        if not isinstance(value, ast.Name):
            return []
        return self._owner(value.id)._displayed(value.id)

    def _displayed(self, name: str) -> list[ast.List | ast.Tuple | ast.Set | ast.Dict]:
        """What a name of this place stands for, where nothing can change it: other files can change what a file has."""
        found = [one for one, at, each in self._of(name) if at is None and not each]
        shown = [one for one in found if isinstance(one, ast.List | ast.Tuple | ast.Set | ast.Dict)]
        kept = (self._outer is not None or name in self._kept) and name not in self._exposed
        unchanged = kept or all(isinstance(one, ast.Tuple) for one in shown)
        return shown if len(shown) == len(self._of(name)) and unchanged else []

    def _bind(self, node: ast.AST, star: Callable[[str], Sequence[str]]) -> None:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._bound[node.id] += 1
        elif isinstance(node, ast.For | ast.comprehension):
            self._source(node.target, node.iter, each=True)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._source(target, node.value, each=False)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._source(node.target, node.value, each=False)
        elif isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
            brought = star(node.module or "") if not node.level else []
            self._bound.update(brought)
            self._everything |= not brought
        elif not isinstance(node, ast.keyword):
            words = [getattr(node, key, None) for key in ("arg", "name", "asname", "rest")]
            self._bound.update(one.partition(".")[0] for one in words if isinstance(one, str))

    def _source(self, target: ast.expr, value: ast.expr, *, each: bool) -> None:
        if isinstance(target, ast.Name):
            self._sources.setdefault(target.id, []).append((value, None, each))
        elif isinstance(target, ast.Tuple) and each:
            for at, one in enumerate(target.elts):
                if isinstance(one, ast.Starred):
                    return
                if isinstance(one, ast.Name):
                    self._sources.setdefault(one.id, []).append((value, at, each))

    def _only_read(self, node: ast.AST) -> list[ast.expr]:
        """What is looked at in this place, and neither changed nor given to anybody who could."""
        found = self._read_at(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKING:
            found = [*found, node.func.value]
        views = [one.func for one in found if isinstance(one, ast.Call) and not one.args and not one.keywords]
        return [*found, *(one.value for one in views if isinstance(one, ast.Attribute) and one.attr in _VIEWS)]

    def _read_at(self, node: ast.AST) -> list[ast.expr]:
        if isinstance(node, ast.For | ast.comprehension):
            return [node.iter]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not self.binds(node.func.id):
            only = node.func.id in _READING or (node.func.id in _ONE_OF and len(node.args) == 1)
            return node.args if only else []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            return [node.value]
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            return node.comparators
        return []


def bound_here(tree: ast.AST) -> set[str]:
    """Names that a file, a class or a function itself binds: not those of a function, a class or a comprehension in it."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(ast.iter_child_nodes(tree))
    if isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef):  # its defaults and decorators are of what is around it
        found.update(one.arg for one in ast.iter_child_nodes(tree.args) if isinstance(one, ast.arg))
        waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return found


def pattern_of(name: Name) -> re.Pattern[str]:
    """What a name may be, where a part of it is not known."""
    return re.compile("".join(r"(?s:.*)" if one is None else re.escape(one) for one in name))


def _joined(parts: Sequence[Sequence[Name]]) -> list[Name]:
    many = 1
    for one in parts:
        many *= len(one)
    if many > _MOST:
        return UNKNOWN
    return [_merged([part for name in names for part in name]) for names in product(*parts)]


def _merged(parts: Sequence[str | None]) -> Name:
    if sum(len(part) for part in parts if part is not None) > _LONGEST:
        return (None,)
    found: list[str | None] = []
    for known, some in groupby(parts, key=lambda part: part is not None):
        found.append("".join(part for part in some if part is not None) if known else None)
    return tuple(found)


def _before(signs: str, names: Sequence[Name]) -> list[Name]:
    """Of texts that are filled in: what stands before the first place for it."""
    found: list[Name] = []
    for name in names:
        first = name[0] or ""
        plain = re.split(f"[{re.escape(signs)}]", first, maxsplit=1)[0]
        found.append((plain, None) if plain else (None,))
    return found
