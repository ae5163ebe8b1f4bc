"""`functools.singledispatch` runs annotations that are texts, wherever they come from: where it is used, what it reads must be classes."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Collection, Iterator, Sequence

from assay_zoo.artifacts.code_names import last_name

DISPATCHING = ("singledispatch", "singledispatchmethod")
REGISTERING = ("register", "__dict__", "vars")
"""Names by which a function comes to be registered."""
Paths = Callable[[ast.AST], Sequence[str]]
"""Of a name in the file, all that it may be of a module of Python, of a package, or of another file where it is a class or function."""


def registered(node: ast.AST) -> Iterator[ast.expr]:
    """What a call or a decorator registers, of which Python takes the annotations or the class itself."""
    if isinstance(node, ast.Call) and last_name(node.func) == "register" and len(node.args) == 1 and not node.keywords:
        yield node.args[0]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "register" in map(last_name, node.decorator_list):
        arguments = (one for one in ast.walk(node.args) if isinstance(one, ast.arg))
        yield from (one for one in (*(each.annotation for each in arguments), node.returns) if one is not None)


class Classes:
    """Of one file: `own` are the classes that it defines, `binds` says whether a name may be another than that of Python."""

    def __init__(self, own: Collection[str], binds: Callable[[str], bool], paths: Paths) -> None:
        self._own, self._binds, self._paths = own, binds, paths

    def has(self, node: ast.expr) -> bool:
        """Whether an expression gives a class, or what is made of classes, and no text."""
        if isinstance(node, ast.Constant):
            return node.value in (None, ...)
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.BitOr) and self.has(node.left) and self.has(node.right)
        if isinstance(node, ast.Tuple | ast.List):
            return all(map(self.has, node.elts))
        if isinstance(node, ast.Subscript):
            return self._is_generic(node.value) and (last_name(node.value) == "Literal" or self.has(node.slice))
        if isinstance(node, ast.Name) and (node.id in self._own or self._is_of_python(node.id)):
            return True
        return bool(self._paths(node))

    def _is_of_python(self, name: str) -> bool:
        return isinstance(getattr(builtins, name, None), type) and not self._binds(name)

    def _is_generic(self, node: ast.expr) -> bool:
        """Of Python itself: a table of a package may hold any text."""
        named = isinstance(node, ast.Name) and self._is_of_python(node.id)
        paths = self._paths(node)
        return named or (bool(paths) and all(one.partition(".")[0] in sys.stdlib_module_names for one in paths))
