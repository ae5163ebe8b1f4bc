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
        is_asked = not name or is_class or name.startswith("_") or name in self._others.asks
        if not (is_asked or self._is_own_function(value) or any(map(self._is_shared, origins - {OWN, UNKNOWN}))):
            return  # nothing in the submission ever asks for that, and no package has the value
        is_made = isinstance(value, ast.Call) and last_name(value.func) in self._classes
        is_other = self._is_own_function(value) or (name.startswith("_") and is_made)
        if ((is_class or name == "__class__") and not isinstance(value, ast.Constant)) or is_other:
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
        """Whether a package, of all that the submission has, may ask for that name of what comes from `origin`."""
        tops = {path.partition(".")[0] for path in (origin, *self._bound.all_paths())} & set(self._packages)
        known = origin == UNKNOWN or origin.partition(".")[0] in tops
        plain = name and not name.startswith("_") and known and not _runs_models(origin)
        return not plain or any(may_ask_for(top, name) for top in sorted(tops))

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
