"""Methods of what packages make that a file replaces: from then on they answer something else to all that use them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.origins import OWN, UNKNOWN
from assay_zoo.artifacts.reached import Unread
from assay_zoo.artifacts.scopes import parameters
from assay_zoo.artifacts.source_file import SourceFile

RUNTIMES = (
    "onnxruntime.", "onnx.reference.ReferenceEvaluator.", "openvino.", "tensorrt.", "iree.", "tvm.", "ncnn.", "MNN.", "ai_edge_litert.",
    "tflite_runtime.", "executorch.",
)  # fmt: skip
"""Packages whose classes run models: nobody who has a model to show derives from one."""
_OF_AXES = ("format_coord", "fmt_xdata", "fmt_ydata")
"""What matplotlib asks to be set: how a place of a plot is written."""


class ReplacedMethods(SourceFile):
    """Those of one file."""

    def _replaced(self, base: ast.expr, name: str, value: ast.expr | None) -> Iterator[str]:
        """A method of what a package makes, or of its class, that is another function from then on."""
        kind = ast.Call if isinstance(base, ast.Call) else ast.Attribute
        is_class = last_name(getattr(base, "func", base)) == ("type" if kind is ast.Call else "__class__")
        of = (
            (base.args[0] if isinstance(base, ast.Call) and base.args else getattr(base, "value", base))
            if is_class
            else base
        )
        origins = self._origins.of(of)
        if name in _OF_AXES or origins == {OWN} or (self._bound.of(base) and not isinstance(base, ast.Call)):
            return
        is_package = any(map(self._is_shared, origins - {OWN, UNKNOWN}))
        inside = name.startswith("_")
        is_asked = not name or is_package or is_class or inside or name in self._others.asks
        may_be = UNKNOWN in origins and self._is_own_function(value) and self._is_given_package(of)
        if not is_asked and not may_be:
            return  # nothing in the submission ever asks for that, and no package has the value
        is_made = isinstance(value, ast.Call) and last_name(value.func) in self._classes
        is_other = not isinstance(value, ast.Constant) and (
            name in self._asked_of_packages
            or (inside and (is_package or (is_made and name not in self._own_attributes(origins))))
            or (name in self._asked_of_any and UNKNOWN in origins and not self._is_number(value))
            or (self._is_own_function(value) and name not in self._own_attributes(origins))
        )
        if is_class or name == "__class__" or is_other:
            yield Unread(
                f"what a value does for all that use it ({ast.unparse(base)[:40]}.{name or '...'} is replaced)"
            )

    def _derived(self, bases: Sequence[ast.expr]) -> Iterator[str]:
        """A class that is a runtime's and answers by itself, or may be."""
        for base in bases:
            is_plain = isinstance(base, ast.Name) and (hasattr(builtins, base.id) or not self._names[0].binds(base.id))
            for origin in self._origins.of(base):
                if f"{origin}.".startswith(RUNTIMES) or (origin == UNKNOWN and not is_plain):
                    yield Unread(
                        f"what a class of a package does for all that use it (derived from {ast.unparse(base)[:60]})"
                    )

    def _is_given_package(self, node: ast.AST, seen: frozenset[int] = frozenset()) -> bool:
        """Whether a value may be what a package makes, by all with which the function around it is called."""
        scope = self._scopes.around(node)
        while scope is not None and not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            scope = self._scopes.around(scope)
        if scope is None or isinstance(scope, ast.Lambda) or not parameters(scope):
            return True
        if id(scope) in seen:
            return False
        starred = any(self._bound.files(star) for stars in self._others.stars.values() for star in stars)
        asked = self._others.asks[scope.name] > (scope.name in self._asks)
        if scope.name in self._handed_on or starred or asked:
            return True  # who calls it with what is not looked for: another file may
        calls = self._calls_by_name.get(scope.name, [])
        values = [value for call in calls for value in (*call.args, *(keyword.value for keyword in call.keywords))]
        return any(self._may_be_package(value, seen | {id(scope)}) for value in values)

    def _may_be_package(self, node: ast.expr, seen: frozenset[int]) -> bool:
        origins = self._origins.of(node) - {OWN}
        return any(map(self._is_shared, origins - {UNKNOWN})) or (
            UNKNOWN in origins and self._is_given_package(node, seen)
        )

    @cached_property
    def _calls_by_name(self) -> dict[str, list[ast.Call]]:
        calls: dict[str, list[ast.Call]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Call):
                calls.setdefault(last_name(node.func), []).append(node)
        return calls

    @cached_property
    def _handed_on(self) -> set[str]:
        """Functions that the file does more with than to call them."""
        names = [node for node in self._nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        return {node.id for node in names if id(node) not in self._called} & self._functions

    @cached_property
    def _asked_of_packages(self) -> set[str]:
        """Names of methods that the file calls on what comes from a package."""
        return {name for name, origins in self._called_methods if not origins <= {OWN, UNKNOWN}}

    @cached_property
    def _asked_of_any(self) -> set[str]:
        """Names of methods that it calls on what may be of a package, but for those of its own classes."""
        names = {name for name, origins in self._called_methods if UNKNOWN in origins}
        return names - self._origins.of_own_classes

    @cached_property
    def _called_methods(self) -> list[tuple[str, frozenset[str]]]:
        called = [node.func for node in self._nodes if isinstance(node, ast.Call)]
        methods = [func for func in called if isinstance(func, ast.Attribute)]
        return [(func.attr, self._origins.of(func.value)) for func in methods if not self._bound.of(func)]

    def _own_attributes(self, origins: Collection[str]) -> set[str]:
        """Names of attributes that are free where a value may come from there."""
        return self._origins.of_own_classes if set(origins) <= {OWN, UNKNOWN} else set()

    def _is_number(self, value: ast.expr | None) -> bool:
        """Whether it is no function for sure: what is computed, and what a package gives."""
        partial = isinstance(value, ast.Call) and self._bound.of(value.func) == ("functools.partial",)
        shared = isinstance(value, ast.Call) and any(map(self._is_shared, self._bound.of(value.func)))
        return (shared and not partial) or isinstance(
            value, ast.BinOp | ast.Compare | ast.JoinedStr | ast.List | ast.Dict
        )

    def _is_own_function(self, node: ast.expr | None) -> bool:
        own = last_name(node) in self._functions if isinstance(node, ast.Name | ast.Attribute) else False
        of = self._bound.of(node.func if isinstance(node, ast.Call) else node)
        partial = isinstance(node, ast.Call) and of == ("functools.partial",)
        return own or partial or isinstance(node, ast.Lambda) or any(map(self._bound.is_defined, of))
