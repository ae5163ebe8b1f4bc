"""What code of a submission reaches for beyond its own files: processes, the network, the environment, other people's files.

The rules for dangerous calls are bandit's. What bandit does not ask, because a program of one's own may do it, is asked here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from pathlib import PurePosixPath
from types import ModuleType

from assay_zoo.allowed_packages import PACKAGES
from assay_zoo.artifacts.asked_code import AskedCode
from assay_zoo.artifacts.code_names import (
    imported_by,
    imported_from,
    in_python,
    last_name,
    names_of_star,
    statements_in,
)
from assay_zoo.artifacts.dangerous_arguments import LOADERS, code_by_arguments
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
from assay_zoo.artifacts.environment import READER, TABLE, read_variable, set_for_programs
from assay_zoo.artifacts.followed_names import MOST_PATHS
from assay_zoo.artifacts.known_modules import HARMLESS, module_told
from assay_zoo.artifacts.other_files import MOST_NAMES, OtherFiles, alone, file_names
from assay_zoo.artifacts.outside_paths import (
    divides_root,
    levels_above,
    made_text,
    module_text,
    outside_arguments,
    outside_text,
)
from assay_zoo.artifacts.partial_texts import UNKNOWN, Name, added, sums
from assay_zoo.artifacts.reached import Reached, Unread, reached
from assay_zoo.artifacts.written_code import written_code

_GIVING = ("attrgetter", "methodcaller", "import_module")
_BY_NAME = ("getattr", "vars", *_GIVING)
"""These give what is asked of them by name, so they are called by their own."""
_UNWRITTEN = (
    "a name that is written neither here nor in a table of another file, or in one that something else can change: write the names in a "
    "tuple, in no class; of a dataclass take asdict"
)
_RUNNING = ("timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "numpy.testing", *LOADERS)
"""These run texts or data that they are given."""


def reaches(text: str, packages: Collection[str] = PACKAGES, others: OtherFiles | None = None) -> list[Reached]:
    """Once for each, sorted. Text that is no Python has none: another check says so. A module that is
    neither of Python nor of `packages` is another file of the submission; without `others` nothing is known of those."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    others = others or alone(tree)
    own = file_names(tree, others.path)
    if own.too_many():
        return [reached(1, Unread(f"more than can be read: over {MOST_NAMES} names of modules and tables"))]
    reached_names = dict.fromkeys(reached(*finding) for finding in _Scan(tree, own, packages, others).found())
    seen = {reached_name.line for reached_name in reached_names if reached_name.certain}
    reached_names.update(dict.fromkeys(reached(*call) for call in dangerous_calls(text) if call[0] not in seen))
    return sorted(reached_names)


class _Scan(AskedCode):
    """What one file reaches for."""

    def found(self) -> Iterator[tuple[int, str]]:
        of: dict[type, Callable[..., Iterator[str]]] = {
            ast.Import: self._imported, ast.ImportFrom: self._imported, ast.Attribute: self._attribute, ast.Name: self._name,
            ast.Constant: self._constant, ast.Call: self._call, ast.BinOp: self._joined, ast.MatchClass: self._matched,
            ast.ClassDef: self._class, ast.JoinedStr: self._made,
        }  # fmt: skip
        for node in self._nodes:
            if levels_above(node, self._names_in(self._scopes.around(node)).values_of) > len(
                PurePosixPath(self._path).parts
            ):
                yield getattr(node, "lineno", 0), "files outside of the submission (above the folder of the submission)"
            yield from ((getattr(node, "lineno", 0), what) for what in self.asked(node))
            if type(node) in of:
                yield from ((getattr(node, "lineno", 0), what) for what in of[type(node)](node))
        lines = {node.id: node.lineno for node in reversed(self._nodes) if isinstance(node, ast.Name)}
        for name in self._bound.too_many:
            yield (
                lines.get(name, 1),
                Unread(f"more than can be read: {name} stands for more than {MOST_PATHS} names of modules"),
            )

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        names = [alias.name for alias in node.names]
        for alias in node.names:
            path = f"{imported_from(node)}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            if alias.asname not in (None, alias.name) and (path in GUARDED or alias.name in _GIVING):
                yield Unread(f"{path} under a name that another file can import")
        if isinstance(node, ast.ImportFrom):
            module = imported_from(node)
            if module in GUARDED and "*" in names:
                yield f"more of {module} than can be read"
            brought = names_of_star(module, HARMLESS) if "*" in names and module not in GUARDED else []
            for name in brought:
                yield from reached_in_python(f"{module}.{name}")
            for name in names:
                yield from reached_by(module, name) if f"{module}.{name}" not in (TABLE, READER) else ()
            names = [module, *(f"{module}.{name}" for name in names)]
        yield from (f"{what} (import of {name})" for name, what in map(module_told, names) if what)

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        modules = () if self._given(node.value) == 1 else self._bound.of(node.value)
        yield from self._environment(node) if modules else ()
        for module in modules or ("",):
            path = f"{module}.{node.attr}"
            if path in (TABLE, READER) or (path == "unittest.main" and id(node) in self._tests):
                continue
            yield from reached_by(module, node.attr)
            if not isinstance(node.ctx, ast.Load) and self._is_other_file(module):
                yield Unread(f"what a name of another file stands for ({module}.{node.attr})")
            elif (
                not isinstance(node.ctx, ast.Load)
                and self._is_shared(module)
                and id(node) not in self._set_to_constants
            ):
                yield Unread(f"what a package does for all that use it ({module}.{node.attr} is replaced)")
        if modules and isinstance(node.ctx, ast.Load):
            yield from self._value(node)
        if node.attr in ("format", "format_map"):
            yield from self._format(node.value)
        if node.attr in _GIVING and id(node) not in self._called:
            yield Unread(f"what is named while it runs ({node.attr})")

    def _environment(self, node: ast.Name | ast.Attribute | ast.Call) -> Iterator[str]:
        """What is done with variables where they are asked for, and with all of them anywhere else."""
        place = self._names_in(self._scopes.around(node))
        for path in (bound_path for bound_path in self._bound.of(node) if bound_path in (TABLE, READER)):
            name, value = self._variables.get(id(node), (None, node))
            if id(node) in self._written and path == TABLE:
                yield from set_for_programs(self._written[id(node)], place)
            elif name is not None and (path == READER) is (getattr(value, "func", None) is node):
                is_counted, is_printed = id(value) in self._counted, id(value) in self._printed
                yield from read_variable(name, place, is_counted=is_counted, is_printed=is_printed)
            else:
                yield f"the environment ({path})"

    def _name(self, node: ast.Name) -> Iterator[str]:
        given = self._given(node)
        if not isinstance(node.ctx, ast.Load) or given == 1:
            return
        yield from self._environment(node)
        paths = self._bound.of(node)
        last_names = {path.rpartition(".")[2] for path in paths or (node.id,)}
        if given:
            last_names = {path.rpartition(".")[2] for path in paths}
        elif node.id in BUILTINS:
            yield f"code that is made while it runs ({node.id})"
        elif node.id in HIDDEN or node.id == "get_ipython":
            yield f"the insides of Python or IPython ({node.id})"
        if id(node) not in self._called and last_names & set(_BY_NAME):
            yield Unread(f"what is named while it runs ({node.id})")
        for path in paths:
            if id(node) not in self._asked and (
                path in GUARDED
                or isinstance(in_python(path, HARMLESS), ModuleType)
                or (self._is_other_file(path) and id(node) not in self._called and id(node) not in self._only_told)
            ):
                yield Unread(f"{path} under a name that is made while it runs")
            elif path in _RUNNING:
                yield from self._value(node)

    def _value(self, node: ast.expr) -> Iterator[str]:
        """Uses of a module, or of what runs texts, other than a call, an attribute, or a name that is followed here."""
        for path in self._bound.of(node):
            if path in _RUNNING and id(node) not in self._kept:
                what = "stored as data" if path in LOADERS else "made while it runs"
                yield Unread(f"code that is {what} ({path} as a value: call it)")
            elif id(node) not in self._kept | self._only_told and self._is_module(path):
                yield Unread(f"{path} under a name that is made while it runs")

    def _class(self, node: ast.ClassDef) -> Iterator[str]:
        for stmt in statements_in(node):
            if isinstance(stmt, ast.Import | ast.ImportFrom):
                yield Unread(f"{ast.unparse(stmt)} in a class, whose names are not followed")

    def _constant(self, node: ast.Constant) -> Iterator[str]:
        if id(node) not in self._words and isinstance(node.value, str):
            yield from (*reached_by_format(node.value), *module_text(node.value))
        if id(node) not in self._words | self._compared and outside_text(node):
            what = f"files outside of the submission ({outside_text(node)[:60]!r})"
            yield Unread(what) if id(node) in self._listed else what

    def _joined(self, node: ast.BinOp) -> Iterator[str]:
        if isinstance(node.op, ast.Add) and id(node) not in self._added:
            self._added |= {id(bin_op) for bin_op in sums(node)}
            yield from self._format(node)
            yield from self._made(node)
        if isinstance(node.op, ast.Mult | ast.Mod):
            yield from self._made(node)
        if divides_root(node, self._bound):
            yield "files outside of the submission ('/')"

    def _made(self, node: ast.expr) -> Iterator[str]:
        yield from made_text(node, self._names_in(self._scopes.around(node)))

    def _matched(self, node: ast.MatchClass) -> Iterator[str]:
        yield from (what for name in node.kwd_attrs for what in reached_by("object", name))

    def _format(self, node: ast.expr) -> Iterator[str]:
        """What a format string reads from its values."""
        place = self._names_in(self._scopes.around(node))
        parts = [name for each in map(place.of, added(node)) for name in (each if len(each) == 1 else UNKNOWN)]
        if not isinstance(node, ast.Constant):
            yield from reached_by_format("".join(part or "\0" for text in parts for part in text))

    def _call(self, node: ast.Call) -> Iterator[str]:
        yield from (*self._value(node), *self._made(node), *self._environment(node))
        plain = node.func.id if isinstance(node.func, ast.Name) else ""
        if plain in ("setattr", "delattr") and node.args:
            of = self._bound.of(node.args[0])
            for changed in (
                candidate for candidate in of if self._is_other_file(candidate) or self._is_shared(candidate)
            ):
                yield Unread(f"what a name of another file, or of a package, stands for ({changed})")
        for path in self._bound.of(node.func) or (last_name(node.func),):
            yield from self._called_as(node, path, plain)

    def _called_as(self, node: ast.Call, path: str, plain: str) -> Iterator[str]:
        """What the called function does, for each function that it may be."""
        name = path.rpartition(".")[2]
        if name == "import_module":
            yield from reached_by_import(imported_by(node))
        if plain in ("getattr", "vars") or name in ("attrgetter", "methodcaller"):
            yield from self._by_name(node, name)
        if path in ("timeit.timeit", "timeit.repeat", "timeit.Timer"):
            asked = [
                *node.args[:2],
                *(keyword.value for keyword in node.keywords if keyword.arg in ("stmt", "setup", None)),
            ]
            for expr in asked:
                if not self._is_function(expr):
                    what = f"code that is made while it runs ({name})"
                    yield what if isinstance(expr, ast.Constant) else Unread(what)
        if name == "run" and len(node.args) == 1 and self._profiles:
            yield "code that is made while it runs (run of cProfile)"
        top, *parts = path.split(".")
        if top in self._packages and any(part.startswith("_") and not part.endswith("__") for part in parts):
            yield f"the insides of a package ({path})"
        place = self._names_in(self._scopes.around(node))
        for outside in outside_arguments(node, name, self._bound, place):
            own = plain in self._functions and "://" in outside
            what = f"{'the network' if '://' in outside else 'files outside of the submission'} ({outside[:60]!r})"
            yield outside if isinstance(outside, Unread) else Unread(what) if own else what
        yield from written_code(node, path, place)
        if name in ("home", "expanduser", "expandvars"):
            yield f"files outside of the submission ({name})"
        yield from code_by_arguments(node, name, path)

    def _by_name(self, node: ast.Call, name: str) -> Iterator[str]:
        """What getattr, vars, attrgetter and methodcaller give."""
        if name == "vars":
            if not node.args or self._bound.of(node.args[0]):
                yield "the insides of Python or IPython (vars)"
            return
        names = node.args
        if not any(isinstance(arg, ast.Starred) for arg in names) and name != "attrgetter":
            names = node.args[1:2] if name == "getattr" else node.args[:1]
        bases = (self._bound.of(node.args[0]) or ("",)) if name == "getattr" and node.args else ("object",)
        place = self._names_in(self._scopes.around(node))
        for base in bases:
            for written in names:
                for text in place.of(written):
                    yield from self._named(base, name, written, text, is_discarded=id(node) in self._shown)

    def _named(self, base: str, name: str, written: ast.expr, parts: Name, *, is_discarded: bool) -> Iterator[str]:
        """`is_discarded`: what it gives goes nowhere."""
        text = parts[0] if len(parts) == 1 else None
        if text is not None:
            yield from (what for part in text.split(".") for what in reached_by(base, part))
        elif name != "getattr" or (may_reach(base, parts) and not is_discarded):
            yield Unread(f"what is named while it runs ({name} of {_UNWRITTEN})")
        if not (isinstance(written, ast.Constant) or is_discarded) and (
            self._is_asked_plainly(base) or self._gives_module(base, parts)
        ):
            yield Unread(f"what is named while it runs (a module, or a table of another file, of {base})")
