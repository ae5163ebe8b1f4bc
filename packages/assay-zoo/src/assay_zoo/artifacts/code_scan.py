"""What code of a submission reaches for beyond its own files: processes, the network, the environment, other people's files.

The rules for dangerous calls are bandit's. What bandit does not ask, because a program of one's own may do it, is asked here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from types import ModuleType

from assay_zoo.artifacts.code_names import (
    MOST_MEANINGS,
    Bound,
    dotted,
    functions_around,
    given_names,
    imported_by,
    imported_from,
    in_python,
    local_names,
    meanings,
    names_of_star,
    statements_in,
    views,
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
from assay_zoo.artifacts.known_modules import HARMLESS, is_elsewhere, module_told
from assay_zoo.artifacts.other_files import OtherFiles, alone
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
    names = meanings(tree, HARMLESS, {file: list(its) for file, its in others.hands_on.items()})
    scans = (_Scan(tree, bound, packages, others) for bound in views(names, others.hands_on, packages))
    found = dict.fromkeys(one for scan in scans for one in scan.found())
    many = [name for name, paths in names.items() if len(paths) >= MOST_MEANINGS]
    found.update(dict.fromkeys((1, f"more than can be read: {name} stands for too many modules") for name in many))
    seen = {line for line, _ in found}
    found.update(dict.fromkeys(one for one in dangerous_calls(text) if one[0] not in seen))
    return sorted(found)


class _Scan:
    """One file, with what its names stand for."""

    def __init__(self, tree: ast.AST, bound: Bound, packages: Collection[str], others: OtherFiles) -> None:
        self._bound, self._packages, self._others = bound, packages, others
        self._nodes = list(ast.walk(tree))
        self._local = local_names(tree)
        self._names = {0: WrittenNames(tree, self._star, kept=others.kept)}
        self._around = functions_around(self._nodes)
        self._functions = {one.name for one in self._nodes if isinstance(one, ast.FunctionDef)}
        self._written = {
            id(one.value) for one in self._nodes if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)
        }
        self._words = {id(one.value) for one in self._nodes if isinstance(one, ast.Expr)}  # a docstring
        calls = [one for one in self._nodes if isinstance(one, ast.Call)]
        self._called = {id(one.func) for one in calls}
        self._modules = {each.name for one in self._nodes if isinstance(one, ast.Import) for each in one.names}
        self._modules |= {imported_by(one) for one in calls if self._path(one) == "importlib.import_module"}
        self._asked = {id(one.value) for one in self._nodes if isinstance(one, ast.Attribute)}
        self._only_told: set[int] = set()
        for one in calls:
            if self._is_plain(one, ("getattr",)):  # what is asked of a module there is read by its names
                self._asked |= set(map(id, one.args[:1]))
            elif self._is_plain(one, _ONLY_TOLD) or (id(one) in self._words and self._path(one) == "importlib.reload"):
                self._only_told |= set(map(id, one.args))
            elif self._is_plain(one, ("map",)) and dotted(mapped(one), self._bound) in LOADERS:
                self._called.add(id(one.args[0]))
        self._kept = self._asked | self._words | self._called | set(map(id, given_names(self._nodes)))
        known = [path for names in (bound, *bound.files.values()) for path in names.values()]
        self._profiles = any(path.startswith("cProfile") for path in known)

    def _is_plain(self, call: ast.Call, names: Collection[str]) -> bool:
        """Whether it calls one of these of Python's own."""
        plain = call.func.id if isinstance(call.func, ast.Name) else ""
        return plain in names and not self._names[0].binds(plain)

    def _path(self, call: ast.Call) -> str:
        return dotted(call.func, self._bound)

    def _star(self, module: str) -> list[str]:
        return names_of_star(module, HARMLESS)

    def found(self) -> Iterator[tuple[int, str]]:
        of: dict[type, Callable[..., Iterator[str]]] = {
            ast.Import: self._imported, ast.ImportFrom: self._imported, ast.Attribute: self._attribute, ast.Name: self._name,
            ast.Constant: self._constant, ast.Call: self._call, ast.BinOp: self._joined, ast.MatchClass: self._matched,
            ast.Subscript: self._subscript, ast.ClassDef: self._class,
        }  # fmt: skip
        for node in self._nodes:
            if type(node) in of:
                yield from ((getattr(node, "lineno", 0), what) for what in of[type(node)](node))

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
        module = "" if id(node.value) in self._local else dotted(node.value, self._bound)
        if id(node) in self._written and module in ("os", "posix"):
            return  # a variable that is set for a library reads nothing
        yield from reached_by(module, node.attr)
        if not isinstance(node.ctx, ast.Load) and self._is_other_file(module):
            yield f"what a name of another file stands for ({module}.{node.attr})"
        if module and isinstance(node.ctx, ast.Load):
            yield from self._value(node)
        if node.attr in _GIVING and id(node) not in self._called:
            yield f"what is named while it runs ({node.attr})"

    def _name(self, node: ast.Name) -> Iterator[str]:
        if not isinstance(node.ctx, ast.Load) or id(node) in self._local:
            return
        path = dotted(node, self._bound)
        if node.id in BUILTINS:
            yield f"code that is made while it runs ({node.id})"
        elif node.id in HIDDEN or node.id == "get_ipython":
            yield f"the insides of Python or IPython ({node.id})"
        elif (path or node.id).rpartition(".")[2] in _BY_NAME and id(node) not in self._called:
            yield f"what is named while it runs ({node.id})"
        elif id(node) not in self._asked and (
            path in GUARDED
            or isinstance(in_python(path, HARMLESS), ModuleType)
            or (self._is_other_file(path) and id(node) not in self._called and id(node) not in self._only_told)
        ):
            yield f"{path} under a name that is made while it runs"
        elif path in _RUNNING:
            yield from self._value(node)

    def _value(self, node: ast.expr) -> Iterator[str]:
        """A module, or what runs texts, that is neither called nor asked for a name, nor given a name by which it is known here."""
        path = dotted(node, self._bound)
        if path in _RUNNING and id(node) not in self._kept:
            yield f"code that is {'stored as data' if path in LOADERS else 'made while it runs'} ({path} as a value: call it)"
        elif path and id(node) not in self._kept | self._only_told and self._is_module(path):
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
        for name in node.kwd_attrs:
            yield from reached_by("object", name)

    def _subscript(self, node: ast.Subscript) -> Iterator[str]:
        if isinstance(node.slice, ast.Constant) and node.slice.value in ("__builtins__", "__globals__", "__import__"):
            yield f"the insides of Python or IPython ({node.slice.value})"

    def _call(self, node: ast.Call) -> Iterator[str]:
        path = self._path(node)
        plain = node.func.id if isinstance(node.func, ast.Name) else ""
        name = path.rpartition(".")[2] or plain or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if name == "import_module":
            yield from reached_by_import(imported_by(node))
        yield from self._value(node)
        changed = dotted(node.args[0], self._bound) if plain in ("setattr", "delattr") and node.args else ""
        if self._is_other_file(changed):
            yield f"what a name of another file stands for ({changed})"
        if plain in ("getattr", "vars") or name in ("attrgetter", "methodcaller"):
            yield from self._by_name(node, name)
        if path in ("timeit.timeit", "timeit.repeat", "timeit.Timer"):
            asked = [*node.args[:2], *(one.value for one in node.keywords if one.arg in ("stmt", "setup", None))]
            if not all(map(self._is_function, asked)):
                yield f"code that is made while it runs ({name})"
        if name == "run" and len(node.args) == 1 and self._profiles:
            yield "code that is made while it runs (run of cProfile)"
        yield from (
            f"files outside of the submission ({told[:60]!r})" for told in outside_arguments(node, name, self._bound)
        )
        if name in ("home", "expanduser", "expandvars"):
            yield f"files outside of the submission ({name})"
        yield from code_by_arguments(node, name, path)

    def _by_name(self, node: ast.Call, name: str) -> Iterator[str]:
        """What getattr, vars, attrgetter and methodcaller give."""
        if name == "vars":
            if not node.args or dotted(node.args[0], self._bound):
                yield "the insides of Python or IPython (vars)"
            return
        starred = any(isinstance(one, ast.Starred) for one in node.args)
        names = node.args
        if not starred and name != "attrgetter":
            names = node.args[1:2] if name == "getattr" else node.args[:1]
        base = dotted(node.args[0], self._bound) if name == "getattr" and node.args else "object"
        place = self._names_in(self._around.get(id(node)))
        for written in names:
            for one in place.of(written):
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
            names = [
                *self._others.tables,
                *(one for part in base.split(".") for one in self._bound.files.get(part, ())),
            ]
        elif isinstance(there, ModuleType):
            names = [one for one in dir(there) if self._is_module(f"{base}.{one}")]
        return any(map(pattern_of(name).fullmatch, names))

    def _names_in(self, function: ast.AST | None) -> WrittenNames:
        """As they are there, or in the file."""
        if function is None:
            return self._names[0]
        if id(function) not in self._names:
            outer = self._names_in(self._around.get(id(function)))
            self._names[id(function)] = WrittenNames(function, self._star, outer)
        return self._names[id(function)]

    def _is_other_file(self, path: str) -> bool:
        """Such a file as a whole: a value in it may well be handed on and changed."""
        parts = path.lstrip(".").split(".")
        ends = (".".join(parts[at:]) for at in range(len(parts) - 1))
        whole = len(parts) == 1 or path in self._modules or any(one in self._others.modules for one in ends)
        return whole and is_elsewhere(path, self._packages)

    def _is_module(self, path: str) -> bool:
        return isinstance(in_python(path, HARMLESS), ModuleType) or self._is_other_file(path)

    def _is_function(self, node: ast.expr) -> bool:
        partial = isinstance(node, ast.Call) and dotted(node.func, self._bound) == "functools.partial"
        known = isinstance(node, ast.Name) and (node.id in self._functions or node.id in self._bound)
        return partial or known or isinstance(node, ast.Lambda)
