"""Methods of what packages make that a file replaces: from then on they answer something else to all that use them."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from assay_zoo.artifacts.code_names import last_name
from assay_zoo.artifacts.origins import OWN, UNKNOWN
from assay_zoo.artifacts.package_names import may_ask_for, methods_that_run
from assay_zoo.artifacts.reached import DERIVED, Unread
from assay_zoo.artifacts.scopes import parameters
from assay_zoo.artifacts.source_file import SourceFile

RUNTIMES = (
    "onnxruntime.", "onnx.reference.ReferenceEvaluator.", "onnx.reference.reference_evaluator.", "onnx.backend.", "openvino.", "tensorrt.",
    "iree.", "tvm.", "ncnn.", "MNN.", "ai_edge_litert.", "tflite_runtime.", "tensorflow.lite.", "cv2.dnn.", "executorch.",
)  # fmt: skip
"""Packages whose classes run models: nobody who has a model to show derives from one."""
_OPTIONS = re.compile(r".*(?:Options|Config)")
"""Classes of these that only say how a model is run."""
_MEANT = re.compile(
    r"(?:onnxruntime\.quantization|tvm\.relax\.frontend)\..*|openvino\.(?:\w+\.)*Op|tensorrt\.I?(?:\w*Calibrator2?|Logger|Profiler)"
)
"""Classes of these from which one has to derive: they calibrate, write a log, describe a model."""
_CLASS = re.compile(r".*\._?[A-Z]\w*[a-z]\w*")
_TELLING = ("issubclass", "cast", "map", "partial", "raises", "suppress", "getattr", "field", "cache", "lru_cache")
"""Calls of Python and of packages that derive nothing from a class that they are given, beside those that only tell what it is."""
_SET = re.compile(r"format_coord|fmt_[xy]data|[a-z]\w*_(?:fn|func|hook|callback)")
"""What packages ask to be set: how matplotlib writes a place of a plot, how a loader joins samples."""


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
        if self._may_run(of, name, origins) and not isinstance(value, ast.Constant):
            yield Unread(f"what a model answers ({ast.unparse(base)[:40]}.{name or '...'} is replaced)")
            return
        if _SET.fullmatch(name) or origins == {OWN} or (self._bound.of(base) and not isinstance(base, ast.Call)):
            return
        if not is_class and not any(self._may_ask(each, name) for each in origins - {OWN}):
            return  # it is the author's own beside what the package has
        is_package = any(map(self._is_shared, origins - {OWN, UNKNOWN}))
        inside = name.startswith("_")
        is_asked = not name or is_package or is_class or inside or name in self._others.asks
        may_be = UNKNOWN in origins and self._is_own_function(value) and self._is_given_package(of, name)
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

    def _may_run(self, base: ast.expr, name: str, origins: Collection[str]) -> bool:
        """Whether a model may be asked for what has that name. What comes from elsewhere, a parameter or another file, may be one that
        runs a model: there it counts for what such a class can be asked for."""
        if name and name not in self._others.asks:
            return False
        of = self._bound.of(base)
        is_elsewhere = UNKNOWN in origins or (bool(of) and not all(map(self._is_file_or_class, of)))
        return any(map(_may_answer, origins)) or (is_elsewhere and name in methods_that_run())

    def _is_file_or_class(self, path: str) -> bool:
        return self._is_shared(path) or self._is_other_file(path) or self._makes_own(path)

    def _derived(self, bases: Sequence[ast.expr]) -> Iterator[str]:
        """A class that is a runtime's and answers by itself, or may be."""
        for base in bases:
            values = [base]
            scope = self._scopes.around(base)
            if isinstance(base, ast.Name) and isinstance(scope, ast.FunctionDef) and self._given(base) == 1:
                is_asked = self._others.asks[scope.name] > (scope.name in self._asks) or scope.decorator_list
                values = [base] if is_asked else self._given_to(scope, base.id) or [base]
            origins = {origin for value in values for origin in self._origins.of(value)}
            may_be = UNKNOWN in origins and self._has_runtime and not self._is_plain_class(base)
            if may_be or any(map(_runs_models, origins)):
                yield Unread(f"{DERIVED}{ast.unparse(base)[:60]}, which may be one of a runtime that runs models")

    def _handed_class(self, node: ast.AST, parts: Sequence[ast.expr]) -> Iterator[str]:
        """A class that runs models, in a list or a table, or given to a call or to what makes a class: what has it may derive from it."""
        of = self._bound.of(node.func) if isinstance(node, ast.Call) else ()
        shared = bool(of) and all(map(self._is_shared, of))
        telling = isinstance(node, ast.Call) and (
            self._is_plain(node, _TELLING) or (shared and last_name(node.func) in _TELLING)
        )
        for part in parts if not telling and id(node) not in self._of_types else ():
            paths = self._bound.of(part) if id(part) not in self._only_told and self._given(part) != 1 else ()
            if any(_runs_models(path) and _CLASS.fullmatch(path) for path in paths):
                yield Unread(
                    f"what a runtime answers, by a class derived from it ({ast.unparse(part)[:60]} is handed on)"
                )

    @cached_property
    def _of_types(self) -> set[int]:
        """Tuples and lists of types, from which nothing is derived."""
        shown = [node.type for node in self._nodes if isinstance(node, ast.ExceptHandler)]
        shown += [node.slice for node in self._nodes if isinstance(node, ast.Subscript)]
        return set(map(id, shown)) | self._annotated | self._only_told

    @cached_property
    def _has_runtime(self) -> bool:
        """Whether the submission has the name of one at all."""
        stars = [star for stars in self._others.stars.values() for star in stars]
        paths = {f"{path}." for path in (*self._bound.all_paths(), *self._stars, *stars) if path}
        return any(path.startswith(RUNTIMES) or name.startswith(path) for path in paths for name in RUNTIMES)

    def _is_plain_class(self, base: ast.expr) -> bool:
        """One of Python, or one of the submission that nothing else has the name of."""
        name = last_name(base)
        if name in self._bound_names:
            return False
        if isinstance(base, ast.Attribute):
            return name in self._classes and self._origins.of(base.value) == {OWN}
        files = [file for star in self._stars for file in self._bound.files(star)]
        is_starred = len(self._stars) == len(files) == 1 and self._others.is_class(files[0], name)
        return isinstance(base, ast.Name) and (hasattr(builtins, name) or is_starred or not self._names[0].binds(name))

    @cached_property
    def _bound_names(self) -> set[str]:
        """Those of anything but classes: targets, parameters, functions, imports."""
        names: set[str] = set()
        for node in self._nodes:
            if isinstance(node, ast.Name | ast.Attribute):
                names |= set() if isinstance(node.ctx, ast.Load) else {last_name(node)}
            elif not isinstance(node, ast.ClassDef | ast.keyword):
                words = [getattr(node, key, None) for key in ("arg", "asname", "name", "rest")]
                names |= {word.partition(".")[0] for word in words if isinstance(word, str)}
        return names

    def _given_to(self, function: ast.AST | None, name: str) -> list[ast.expr]:
        """The arguments that calls give a parameter, if the function is only ever called by its name; else none."""
        if not isinstance(function, ast.FunctionDef) or name not in (names := [arg.arg for arg in function.args.args]):
            return []
        at = names.index(name)
        spoken = [node for node in self._nodes if isinstance(node, ast.Name) and node.id == function.name]
        calls = [node for node in self._nodes if isinstance(node, ast.Call) and node.func in spoken]
        given = [
            call.args[at]
            for call in calls
            if len(call.args) > at and not any(isinstance(a, ast.Starred) for a in call.args)
        ]
        return given if len(given) == len(calls) == len(spoken) else []

    def _may_ask(self, origin: str, name: str) -> bool:
        """Whether a package, of all that the submission has, may ask for that name of what comes from `origin`; unknown ones may."""
        tops = {path.partition(".")[0] for path in (origin, *self._bound.all_paths())} & set(self._packages)
        plain = name and not name.startswith("_") and origin.partition(".")[0] in tops and not _runs_models(origin)
        return not plain or any(may_ask_for(top, name) for top in sorted(tops))

    def _is_given_package(self, node: ast.AST, name: str, seen: frozenset[int] = frozenset()) -> bool:
        """Whether a value may be what a package makes, which may ask for `name`, by all with which the function around it is called."""
        if isinstance(node, ast.Attribute) and id(node) not in seen and (stored := self._origins.stored(node)):
            return any(self._may_be_package(value, name, seen | {id(node)}) for value in stored)
        scope = self._scopes.around(node)
        while scope is not None and not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            scope = self._scopes.around(scope)
        if scope is None or isinstance(scope, ast.Lambda) or not parameters(scope):
            return True
        if id(scope) in seen:
            return False
        function = self._made_as.get(id(scope), scope.name)
        is_first = isinstance(node, ast.Name) and [node.id] == [arg.arg for arg in scope.args.args[:1]]
        if function.startswith("__") and not is_first:
            return True  # Python calls it, for an operator say
        starred = any(self._bound.files(star) for stars in self._others.stars.values() for star in stars)
        asked = self._others.asks[function] > (function in self._asks)
        if function in self._handed_on or starred or asked:
            return True  # who calls it with what is not looked for: another file may
        calls = self._calls_by_name.get(function, [])
        values = [value for call in calls for value in (*call.args, *(keyword.value for keyword in call.keywords))]
        return any(self._may_be_package(value, name, seen | {id(scope)}) for value in values)

    def _may_be_package(self, node: ast.expr, name: str, seen: frozenset[int]) -> bool:
        origins = self._origins.of(node) - {OWN}
        return any(self._is_shared(each) and self._may_ask(each, name) for each in origins - {UNKNOWN}) or (
            UNKNOWN in origins and self._is_given_package(node, name, seen)
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
        """Functions and classes that the file does more with than to call them."""
        names = [node for node in self._nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
        known = self._called | self._annotated | self._only_told
        return {node.id for node in names if id(node) not in known} & (self._functions | self._classes)

    @cached_property
    def _made_as(self) -> dict[int, str]:
        """Each `__init__` with the name of its class, as which it is called."""
        classes = [node for node in self._nodes if isinstance(node, ast.ClassDef)]
        return {
            id(part): each.name for each in classes for part in each.body if getattr(part, "name", "") == "__init__"
        }

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


def _runs_models(path: str) -> bool:
    return f"{path}.".startswith(RUNTIMES) and not _MEANT.fullmatch(path)


def _may_answer(path: str) -> bool:
    """Whether what a value from there is asked for, in any file, may be what a model answers."""
    return _runs_models(path) and not _OPTIONS.fullmatch(path)
