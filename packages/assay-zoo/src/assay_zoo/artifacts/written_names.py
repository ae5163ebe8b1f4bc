"""Which names a file can give to `getattr`: those that are written in it, in a tuple, a dict or a text with a part that is not known.

A name of the file counts only where everything that binds it is read here, and where nothing can change what it stands for.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from assay_zoo.artifacts.partial_texts import MOST, UNKNOWN, Name, added, by_method, filled, joined, sliced, times
from assay_zoo.artifacts.scopes import LOOPS, bound_here

_READING = ("len", "sorted", "list", "tuple", "set", "frozenset", "enumerate", "zip", "reversed", "print")
_ONE_OF = ("min", "max")
"""Of one argument they give an element of it, of more one of these."""
_LOOKING = ("get", "index", "count")
# What these give leads to the dict itself, so that it may only be read.
_VIEWS = ("items", "keys", "values")
_COPIES = ("sorted", "list", "tuple", "set", "frozenset", "reversed")
_Source = tuple[ast.expr, int | None, bool]
"""An expression; the place in a tuple, None for all of it; whether it is each of its elements."""
_Display = ast.List | ast.Tuple | ast.Set | ast.Dict
Elsewhere = Callable[[ast.expr], Sequence[ast.expr]]
"""All texts and tables that a name of another file may stand for; nothing where something else may be."""


class WrittenNames:
    """Of one file, or of one function in it, which has `outer` around it. `star` is asked what `from MODULE import *` brings; nothing
    means that it is not known. `kept` are lists, sets and dicts of a file that no other one can change."""

    def __init__(
        self,
        tree: ast.AST,
        star: Callable[[str], Sequence[str]],
        outer: WrittenNames | None = None,
        kept: Collection[str] = (),
        elsewhere: Elsewhere = lambda _: (),
    ) -> None:
        self._outer, self._kept, self._star = outer, kept, star
        self._elsewhere: Elsewhere = outer._elsewhere if outer else elsewhere
        self._sources: dict[str, list[_Source]] = {}
        self._bound: Counter[str] = Counter()
        self._imported: Counter[str] = Counter()
        self._everything = False
        self._known: dict[str, list[Name]] = {}
        nodes = list(ast.walk(tree))
        shared = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
        for node in nodes:
            self._bind(node, star)
        self._shared: set[str] = outer._shared if outer else shared
        own = {name for name in bound_here(tree) if self._bound[name] == 1} - self._shared
        self._own = own if isinstance(tree, LOOPS) else (bound_here(tree) | self._nowhere_else()) - shared
        read = {id(expr) for node in nodes for expr in self._only_read(node)}
        used = [expr for expr in nodes if isinstance(expr, ast.Name | ast.Attribute) and id(expr) not in read]
        self._exposed = {expr.id for expr in used if isinstance(expr, ast.Name) and isinstance(expr.ctx, ast.Load)}
        self.asked = {expr.attr for expr in used if isinstance(expr, ast.Attribute)}
        """Names of attributes with which more is done than to look at them."""

    def binds(self, name: str) -> bool:
        """Whether a name may be another thing in this file than it is in Python."""
        here = self._everything or self._bound[name] > 0
        return here or (self._outer is not None and self._outer.binds(name))

    def bound(self) -> set[str]:
        """Every name that is given a value somewhere here."""
        return set(self._bound)

    def values_of(self, name: str) -> list[ast.expr]:  # as all_of, in the function whose own name it is, or the file
        return self._owner(name).all_of(name)

    def times_bound(self, name: str) -> int:
        return self._bound[name]

    def is_shared(self, name: str) -> bool:
        """Whether a function says of it that it is not its own."""
        return name in self._shared

    def is_handed_on(self, name: str) -> bool:
        """Whether more is done here with what a name stands for than to look at it."""
        return name in self._exposed

    def is_changed(self, name: str) -> bool:
        """And it may be of another file."""
        return name in self._exposed and (self._everything or self._imported[name] > 0)

    def is_imported(self, name: str) -> bool:
        """Whether it is always of another file."""
        return not self._everything and 0 < self._bound[name] == self._imported[name]

    def all_of(self, name: str) -> list[ast.expr]:
        """Every value that the name is given, as it is written; nothing where it may have another."""
        given = self._of(name)
        return [value for value, at, each in given] if all(at is None and not each for _, at, each in given) else []

    def of(self, node: ast.expr) -> list[Name]:
        """Every text that an expression may give, each once."""
        texts = list(dict.fromkeys(self._texts(node)))
        return texts if len(texts) <= MOST else UNKNOWN

    def _texts(self, node: ast.expr) -> list[Name]:
        texts: list[Name] = UNKNOWN
        if isinstance(node, ast.Constant):
            texts = [(node.value,)] if isinstance(node.value, str) else UNKNOWN
        elif isinstance(node, ast.Name):
            texts = self._owner(node.id)._of_name(node.id)
        elif isinstance(node, ast.JoinedStr):
            texts = joined([self.of(value) for value in node.values])
        elif isinstance(node, ast.FormattedValue):
            texts = self.of(node.value) if node.format_spec is None and node.conversion == -1 else UNKNOWN
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            texts = joined([self.of(expr) for expr in added(node)])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            texts = filled("%", self.of(node.left), [self.of(expr) for expr in given])
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            texts = times(self.of(node.left), node.right)
        elif isinstance(node, ast.IfExp):
            texts = [*self.of(node.body), *self.of(node.orelse)]
        elif isinstance(node, ast.Attribute):
            texts = [text for each in self._elsewhere(node) for text in self.of(each)] or UNKNOWN
        elif isinstance(node, ast.Subscript):
            part = node.slice
            texts = sliced(self.of(node.value), part) if isinstance(part, ast.Slice) else self._values(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            texts = self._of_method(node, node.func)
        return texts

    def _of_method(self, call: ast.Call, method: ast.Attribute) -> list[Name]:
        if method.attr == "format":
            starred = any(isinstance(arg, ast.Starred) for arg in call.args)
            return filled("{}", self.of(method.value), [] if starred else [self.of(arg) for arg in call.args])
        starred = any(isinstance(arg, ast.Starred) for arg in call.args)
        if method.attr == "get" and call.args and not starred and not call.keywords:
            return [*self._values(method.value), *(text for each in call.args[1:] for text in self.of(each))]
        if starred or call.keywords:
            return UNKNOWN
        if method.attr == "join" and len(call.args) == 1:
            parts = self._elements(call.args[0]) if len(self._displays(call.args[0])) == 1 else []
            return joined([self.of(each) for part in parts for each in (method.value, part)][1:]) if parts else UNKNOWN
        return by_method(method.attr, self.of(method.value), [self.of(arg) for arg in call.args])

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
            texts = list(dict.fromkeys(text for source in self._of(name) for text in self._given(*source)))
            self._known[name] = texts if 0 < len(texts) <= MOST else UNKNOWN
        return self._known[name]

    def _of(self, name: str) -> list[_Source]:
        """What binds it; nothing where something else may, as Python does with `__doc__`."""
        if self.is_imported(name):
            return [(expr, None, False) for expr in self._elsewhere(ast.Name(name, ast.Load()))]
        sources = self._sources.get(name, [])
        alone = len(sources) == self._bound[name] and not self._everything and not name.startswith("__")
        return sources if alone else []

    def _given(self, value: ast.expr, at: int | None, each: bool) -> list[Name]:
        return self._unpacked(value, at) if at is not None else self._each(value) if each else self.of(value)

    def _unpacked(self, value: ast.expr, at: int) -> list[Name]:
        """The names at a place of each element: of pairs that are written out, of `items`, `enumerate` and `zip`."""
        plain = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        if isinstance(value, ast.Call) and plain in ("enumerate", "zip") and not self.binds(plain):
            if plain == "enumerate":
                return self._each(value.args[0]) if at == 1 and value.args else UNKNOWN
            starred = any(isinstance(arg, ast.Starred) for arg in value.args)
            return self._each(value.args[at]) if at < len(value.args) and not starred else UNKNOWN
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "items":
            return self._each(value.func.value) if at == 0 else self._values(value.func.value)
        texts: list[Name] = []
        for element in self._elements(value):
            pair = element.elts if isinstance(element, ast.Tuple) else []
            starred = any(isinstance(each, ast.Starred) for each in pair)
            texts += self.of(pair[at]) if at < len(pair) and not starred else UNKNOWN
        return texts or UNKNOWN

    def _each(self, value: ast.expr) -> list[Name]:
        """Every element of what is iterated over."""
        if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            return WrittenNames(value, self._star, self).of(value.elt)
        plain = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        if isinstance(value, ast.Call) and value.args and plain in _COPIES and not self.binds(plain):
            return self._each(value.args[0])
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr in ("keys", "values")
        ):
            return self._values(value.func.value) if value.func.attr == "values" else self._each(value.func.value)
        return [text for each in self._elements(value) for text in self.of(each)] or UNKNOWN

    def _values(self, value: ast.expr) -> list[Name]:
        """Of a dict, or what a place of a list has."""
        displays = self._displays(value)
        parts = [
            each for display in displays for each in (display.values if isinstance(display, ast.Dict) else display.elts)
        ]
        return [text for each in parts for text in self.of(each)] or UNKNOWN

    def _elements(self, value: ast.expr) -> list[ast.expr]:
        """Of a list, a tuple or a set that is written out, the keys of a dict; nothing where they are not known."""
        trees: list[ast.expr] = []
        for display in self._displays(value):
            parts = display.keys if isinstance(display, ast.Dict) else display.elts
            if not parts or any(each is None or isinstance(each, ast.Starred) for each in parts):
                return []
            trees += [each for each in parts if each is not None]
        return trees

    def _displays(self, value: ast.expr) -> list[_Display]:
        if isinstance(value, ast.List | ast.Tuple | ast.Set | ast.Dict):
            return [value]
        if isinstance(value, ast.Name):
            return self._owner(value.id)._displayed(value.id)
        return _all_displays(self._elsewhere(value)) if isinstance(value, ast.Attribute) else []

    def _displayed(self, name: str) -> list[_Display]:
        """What a name of this place stands for, where nothing can change it: other files can change what a file has."""
        shown = _all_displays(self.all_of(name))
        kept = (self._outer is not None or name in self._kept) and name not in self._exposed
        unchanged = kept or self.is_imported(name) or all(isinstance(display, ast.Tuple) for display in shown)
        return shown if unchanged else []

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
        elif isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names):
            brought = star(node.module or "") if not node.level else []
            self._bound.update(brought)
            self._everything |= not brought
        elif not isinstance(node, ast.keyword):
            words = [getattr(node, key, None) for key in ("arg", "name", "asname", "rest")]
            names = [word.partition(".")[0] for word in words if isinstance(word, str)]
            self._bound.update(names)
            self._imported.update(names if isinstance(node, ast.alias) else ())

    def _source(self, target: ast.expr, value: ast.expr, *, each: bool) -> None:
        if isinstance(target, ast.Name):
            self._sources.setdefault(target.id, []).append((value, None, each))
        elif isinstance(target, ast.Tuple) and each:
            for at, elt in enumerate(target.elts):
                if isinstance(elt, ast.Starred):
                    return
                if isinstance(elt, ast.Name):
                    self._sources.setdefault(elt.id, []).append((value, at, each))

    def _only_read(self, node: ast.AST) -> list[ast.expr]:
        """What is looked at in this place, and neither changed nor given to anybody who could."""
        trees = self._read_at(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOOKING:
            trees = [*trees, node.func.value]
        views = [expr.func for expr in trees if isinstance(expr, ast.Call) and not expr.args and not expr.keywords]
        return [*trees, *(view.value for view in views if isinstance(view, ast.Attribute) and view.attr in _VIEWS)]

    def _read_at(self, node: ast.AST) -> list[ast.expr]:
        if isinstance(node, ast.For | ast.comprehension):
            return [node.iter]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not self.binds(node.func.id):
            only = node.func.id in _READING or (node.func.id in _ONE_OF and len(node.args) == 1)
            return node.args if only else []
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Constant)
        ):
            return node.args if node.func.attr == "join" else []
        if isinstance(node, ast.FormattedValue) or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)):
            return [node.value]
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            return node.comparators
        return []


def _all_displays(values: Sequence[ast.expr]) -> list[_Display]:
    """Nothing where one is none."""
    shown = [value for value in values if isinstance(value, ast.List | ast.Tuple | ast.Set | ast.Dict)]
    return shown if len(shown) == len(values) else []
