"""What code of a submission reaches for beyond its own files: processes, the network, the environment, other people's files.

The rules for dangerous calls are bandit's. What bandit does not ask, because a program of one's own may do it, is asked here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from types import ModuleType

from assay_zoo.artifacts.code_names import (
    functions_around,
    given_names,
    imported_by,
    imported_from,
    in_python,
    last_name,
    local_names,
    names_of_star,
    statements_in,
)
from assay_zoo.artifacts.dangerous_arguments import LOADERS, code_by_arguments, mapped
from assay_zoo.artifacts.dangerous_calls import dangerous_calls
from assay_zoo.artifacts.dangerous_names import (
    BUILTINS,
    GUARDED,
    HIDDEN,
    may_reach,
    reached_by,
    reached_by_format,
    reached_by_import,
    reached_in_python,
)
from assay_zoo.artifacts.followed_names import MOST_PATHS, FollowedNames
from assay_zoo.artifacts.known_modules import HARMLESS, is_elsewhere, module_told
from assay_zoo.artifacts.other_files import MOST_NAMES, FileNames, OtherFiles, alone, file_names
from assay_zoo.artifacts.outside_paths import divides_root, joined_text, outside_arguments, outside_text
from assay_zoo.artifacts.text_annotations import with_annotations_read
from assay_zoo.artifacts.written_names import Name, WrittenNames, pattern_of
from assay_zoo.policy import ZooPolicy

_GIVING = ("attrgetter", "methodcaller", "import_module")
_BY_NAME = ("getattr", "vars", *_GIVING)
"""These give what is asked of them by name, so they are called by their own."""
_ONLY_TOLD = ("print", "repr", "str", "type", "dir", "help", "id", "hasattr", "isinstance")
"""Of Python: they change nothing in a module that they are given."""
_UNWRITTEN = (
    "a name that is not written in this file, or in a list or dict that something else can change: write the names in a tuple here, "
    "in no class; for fields of a dataclass take asdict"
)
PACKAGES: tuple[str, ...] = ZooPolicy.model_fields["packages"].default
_RUNNING = ("timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "numpy.testing", *LOADERS)
"""These run texts or data that they are given."""


def reaches(text: str, packages: Collection[str] = PACKAGES, others: OtherFiles | None = None) -> list[tuple[int, str]]:
    """(line, what it reaches for), once for each, sorted. Text that is no Python has none: another check says so. A module that is
    neither of Python nor of `packages` is another file of the submission; without `others` nothing is known of those."""
    try:
        tree = with_annotations_read(ast.parse(text))
    except (SyntaxError, ValueError):
        return []
    others = others or alone(tree)
    own = file_names(tree)
    if own.too_many():
        return [(1, f"more than can be read: over {MOST_NAMES} names of modules and tables")]
    found = dict.fromkeys(_Scan(tree, own, packages, others).found())
    seen = {line for line, _ in found}
    found.update(dict.fromkeys(one for one in dangerous_calls(text) if one[0] not in seen))
    return sorted(found)


class _Scan:
    """One file, with what its names stand for."""

    def __init__(self, tree: ast.AST, own: FileNames, packages: Collection[str], others: OtherFiles) -> None:
        self._packages, self._others = packages, others.files
        self._bound = FollowedNames(own.hands_on, own.stars, others.files, packages)
        self._nodes = list(ast.walk(tree))
        self._local, self._rebound = local_names(tree)
        self._names = {0: WrittenNames(tree, names_of_star, kept=others.kept)}
        self._around = functions_around(self._nodes)
        self._functions = {one.name for one in self._nodes if isinstance(one, ast.FunctionDef)}
        self._written = {
            id(one.value) for one in self._nodes if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)
        }
        self._words = {id(one.value) for one in self._nodes if isinstance(one, ast.Expr)}  # a docstring
        calls = [one for one in self._nodes if isinstance(one, ast.Call)]
        self._called = {id(one.func) for one in calls}
        self._modules = {each.name for one in self._nodes if isinstance(one, ast.Import) for each in one.names}
        self._modules |= {imported_by(one) for one in calls if "importlib.import_module" in self._bound.of(one.func)}
        self._asked = {id(one.value) for one in self._nodes if isinstance(one, ast.Attribute)}
        self._only_told: set[int] = set()
        for one in calls:
            if self._is_plain(one, ("getattr",)):  # what is asked of a module there is read by its names
                self._asked |= set(map(id, one.args[:1]))
            elif self._is_plain(one, _ONLY_TOLD) or (
                id(one) in self._words and self._bound.of(one.func) == ("importlib.reload",)
            ):
                self._only_told |= set(map(id, one.args))
            elif self._is_plain(one, ("map",)) and set(self._bound.of(mapped(one))) & set(LOADERS):
                self._called.add(id(one.args[0]))
        self._kept = self._asked | self._words | self._called | set(map(id, given_names(self._nodes)))
        self._profiles = any(path.startswith("cProfile") for path in self._bound.all_paths())

    def _is_plain(self, call: ast.Call, names: Collection[str]) -> bool:
        """Whether it calls one of these of Python's own."""
        return isinstance(call.func, ast.Name) and call.func.id in names and not self._names[0].binds(call.func.id)

    def found(self) -> Iterator[tuple[int, str]]:
        of: dict[type, Callable[..., Iterator[str]]] = {
            ast.Import: self._imported, ast.ImportFrom: self._imported, ast.Attribute: self._attribute, ast.Name: self._name,
            ast.Constant: self._constant, ast.Call: self._call, ast.BinOp: self._joined, ast.MatchClass: self._matched,
            ast.Subscript: self._subscript, ast.ClassDef: self._class,
        }  # fmt: skip
        for node in self._nodes:
            if type(node) in of:
                yield from ((getattr(node, "lineno", 0), what) for what in of[type(node)](node))
        lines = {one.id: one.lineno for one in reversed(self._nodes) if isinstance(one, ast.Name)}
        for name in self._bound.too_many:
            yield (
                lines.get(name, 1),
                f"more than can be read: {name} stands for more than {MOST_PATHS} names of modules",
            )

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        names = [one.name for one in node.names]
        for one in node.names:
            path = f"{imported_from(node)}.{one.name}" if isinstance(node, ast.ImportFrom) else one.name
            if one.asname not in (None, one.name) and (path in GUARDED or one.name in _GIVING):
                yield f"{path} under a name that another file can import"
        if isinstance(node, ast.ImportFrom):
            module = imported_from(node)
            if module in GUARDED and "*" in names:
                yield f"more of {module} than can be read"
            brought = names_of_star(module, HARMLESS) if "*" in names and module not in GUARDED else []
            for name in brought:
                yield from reached_in_python(f"{module}.{name}")
            for name in names:
                yield from reached_by(module, name)
            names = [module, *(f"{module}.{name}" for name in names)]
        yield from (f"{what} (import of {name})" for name, what in map(module_told, names) if what)

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        modules = () if id(node.value) in self._local else self._bound.of(node.value)
        for module in modules or ("",):
            if id(node) in self._written and module in ("os", "posix"):
                continue  # a variable that is set for a library reads nothing
            yield from reached_by(module, node.attr)
            if not isinstance(node.ctx, ast.Load) and self._is_other_file(module):
                yield f"what a name of another file stands for ({module}.{node.attr})"
        if modules and isinstance(node.ctx, ast.Load):
            yield from self._value(node)
        if node.attr in _GIVING and id(node) not in self._called:
            yield f"what is named while it runs ({node.attr})"

    def _name(self, node: ast.Name) -> Iterator[str]:
        if not isinstance(node.ctx, ast.Load) or id(node) in self._local:
            return
        paths = self._bound.of(node)
        said = {path.rpartition(".")[2] for path in paths or (node.id,)}
        if id(node) in self._rebound:
            said = {path.rpartition(".")[2] for path in paths}
        elif node.id in BUILTINS:
            yield f"code that is made while it runs ({node.id})"
        elif node.id in HIDDEN or node.id == "get_ipython":
            yield f"the insides of Python or IPython ({node.id})"
        if id(node) not in self._called and said & set(_BY_NAME):
            yield f"what is named while it runs ({node.id})"
        for path in paths:
            if id(node) not in self._asked and (
                path in GUARDED
                or isinstance(in_python(path, HARMLESS), ModuleType)
                or (self._is_other_file(path) and id(node) not in self._called and id(node) not in self._only_told)
            ):
                yield f"{path} under a name that is made while it runs"
            elif path in _RUNNING:
                yield from self._value(node)

    def _value(self, node: ast.expr) -> Iterator[str]:
        """A module, or what runs texts, that is neither called nor asked for a name, nor given a name by which it is known here."""
        for path in self._bound.of(node):
            if path in _RUNNING and id(node) not in self._kept:
                what = "stored as data" if path in LOADERS else "made while it runs"
                yield f"code that is {what} ({path} as a value: call it)"
            elif id(node) not in self._kept | self._only_told and self._is_module(path):
                yield f"{path} under a name that is made while it runs"

    def _class(self, node: ast.ClassDef) -> Iterator[str]:
        for one in statements_in(node):
            if isinstance(one, ast.Import | ast.ImportFrom):
                yield f"{ast.unparse(one)} in a class, whose names are not followed"

    def _constant(self, node: ast.Constant) -> Iterator[str]:
        if id(node) not in self._words and isinstance(node.value, str):
            yield from reached_by_format(node.value)
        if id(node) not in self._words and outside_text(node):
            yield f"files outside of the submission ({outside_text(node)[:60]!r})"

    def _joined(self, node: ast.BinOp) -> Iterator[str]:
        told = joined_text(node) or ("/" if divides_root(node, self._bound) else "")
        if told:
            yield f"files outside of the submission ({told[:60]!r})"

    def _matched(self, node: ast.MatchClass) -> Iterator[str]:
        yield from (what for name in node.kwd_attrs for what in reached_by("object", name))

    def _subscript(self, node: ast.Subscript) -> Iterator[str]:
        if isinstance(node.slice, ast.Constant) and node.slice.value in ("__builtins__", "__globals__", "__import__"):
            yield f"the insides of Python or IPython ({node.slice.value})"

    def _call(self, node: ast.Call) -> Iterator[str]:
        yield from self._value(node)
        plain = node.func.id if isinstance(node.func, ast.Name) else ""
        if plain in ("setattr", "delattr") and node.args:
            for changed in filter(self._is_other_file, self._bound.of(node.args[0])):
                yield f"what a name of another file stands for ({changed})"
        for path in self._bound.of(node.func) or (last_name(node.func),):
            yield from self._called_as(node, path, plain)

    def _called_as(self, node: ast.Call, path: str, plain: str) -> Iterator[str]:
        """What one of the functions does that the call may be of."""
        name = path.rpartition(".")[2]
        if name == "import_module":
            yield from reached_by_import(imported_by(node))
        if plain in ("getattr", "vars") or name in ("attrgetter", "methodcaller"):
            yield from self._by_name(node, name)
        if path in ("timeit.timeit", "timeit.repeat", "timeit.Timer"):
            asked = [*node.args[:2], *(one.value for one in node.keywords if one.arg in ("stmt", "setup", None))]
            if not all(map(self._is_function, asked)):
                yield f"code that is made while it runs ({name})"
        if name == "run" and len(node.args) == 1 and self._profiles:
            yield "code that is made while it runs (run of cProfile)"
        told = outside_arguments(node, name, self._bound)
        yield from (f"files outside of the submission ({one[:60]!r})" for one in told)
        if name in ("home", "expanduser", "expandvars"):
            yield f"files outside of the submission ({name})"
        yield from code_by_arguments(node, name, path)

    def _by_name(self, node: ast.Call, name: str) -> Iterator[str]:
        """What getattr, vars, attrgetter and methodcaller give."""
        if name == "vars":
            if not node.args or self._bound.of(node.args[0]):
                yield "the insides of Python or IPython (vars)"
            return
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        names = node.args
        if not starred and name != "attrgetter":
            names = node.args[1:2] if name == "getattr" else node.args[:1]
        bases = (self._bound.of(node.args[0]) or ("",)) if name == "getattr" and node.args else ("object",)
        place = self._names_in(self._around.get(id(node)))
        for base in bases:
            for written in names:
                for one in place.of(written):
                    yield from self._named(base, name, written, one)

    def _named(self, base: str, name: str, written: ast.expr, one: Name) -> Iterator[str]:
        text = one[0] if len(one) == 1 else None
        if text is not None:
            yield from (what for part in text.split(".") for what in reached_by(base, part))
        elif name != "getattr" or may_reach(base, one):
            yield f"what is named while it runs ({name} of {_UNWRITTEN})"
        if not isinstance(written, ast.Constant) and self._gives_module(base, one):
            yield f"what is named while it runs (a module, or a table of another file, of {base})"

    def _gives_module(self, base: str, name: Name) -> bool:
        """Whether one of such names of a module is another one, or of a file a table of it."""
        there = in_python(base, HARMLESS)
        names: Collection[str] = ()
        if self._is_other_file(base):
            names = [*self._others.tables, *self._bound.names_of(base)]
        elif isinstance(there, ModuleType):
            names = [one for one in dir(there) if self._is_module(f"{base}.{one}")]
        return any(map(pattern_of(name).fullmatch, names))

    def _names_in(self, function: ast.AST | None) -> WrittenNames:
        """As they are there, or in the file."""
        if function is None:
            return self._names[0]
        if id(function) not in self._names:
            outer = self._names_in(self._around.get(id(function)))
            self._names[id(function)] = WrittenNames(function, names_of_star, outer)
        return self._names[id(function)]

    def _is_other_file(self, path: str) -> bool:
        """Such a file as a whole: a value in it may well be handed on and changed."""
        parts = path.lstrip(".").split(".")
        ends = (".".join(parts[at:]) for at in range(len(parts) - 1))
        whole = len(parts) == 1 or path in self._modules or any(one in self._others.modules for one in ends)
        return whole and is_elsewhere(path, self._packages) and not self._bound.is_defined(path)

    def _is_module(self, path: str) -> bool:
        return isinstance(in_python(path, HARMLESS), ModuleType) or self._is_other_file(path)

    def _is_function(self, node: ast.expr) -> bool:
        partial = isinstance(node, ast.Call) and self._bound.of(node.func) == ("functools.partial",)
        known = isinstance(node, ast.Name) and (node.id in self._functions or bool(self._bound.of(node)))
        return partial or known or isinstance(node, ast.Lambda)
