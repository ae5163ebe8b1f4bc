"""What code of a submission reaches for beyond its own files: processes, the network, the environment, other people's files.

The rules for dangerous calls are bandit's. What bandit does not ask, because a program of one's own may do it, is asked here.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType

from assay_zoo.artifacts.code_names import (
    bound_names,
    dotted,
    imported_by,
    in_python,
    local_names,
    names_of_star,
)
from assay_zoo.artifacts.dangerous_calls import dangerous_calls
from assay_zoo.artifacts.known_modules import HARMLESS, is_elsewhere, is_other_file, module_told
from assay_zoo.artifacts.outside_paths import divides_root, joined_text, outside_arguments, outside_text
from assay_zoo.artifacts.written_names import Name, WrittenNames, pattern_of

_OF_OS = {
    "pardir": "files outside of the submission",
    **dict.fromkeys(("environ", "environb", "getenv", "getenvb"), "the environment"),
    **dict.fromkeys(
        ("system", "popen", "fork", "forkpty", "kill", "killpg", "posix_spawn", "startfile"), "other processes"
    ),
}
_GUARDED = ("os", "posix", "sys", "importlib", "shutil")
"""Modules of which a part is harmless: they are called by their names, so that the part can be read."""
_THROUGH = (*_GUARDED, "subprocess", "socket", "builtins", "bltns", "ctypes", "ctypeslib", "pickle")
_BUILTINS = ("exec", "eval", "compile", "__import__", "globals", "locals", "breakpoint")
_BY_NAME = ("getattr", "vars", "operator.attrgetter", "importlib.import_module")
"""These give what they are told by name, so they are called by their own."""
_OF_IMPORTLIB = ("import_module", "reload", "metadata", "resources", "invalidate_caches")
_HIDDEN = (
    "__subclasses__", "__builtins__", "__globals__", "__loader__", "__spec__", "__code__", "__getattribute__", "__self__", "__import__",
    "f_globals", "f_builtins", "f_locals", "f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "exec_module", "load_module",
    "get_objects", "get_referrers", "get_referents", "currentframe", "getmembers", "getattr_static", "get_field", "get_type_hints",
    "ForwardRef", "FunctionType", "CodeType", "EntryPoint", "EntryPoints", "entry_points", "loadTestsFromName", "loadTestsFromNames",
    "runctx",
)  # fmt: skip
"""Names that lead from any value to modules, frames or code, or that make code of texts."""
_INSIDES = ("modules", "meta_path", "path_hooks", "_getframe", "_current_frames", "settrace", "setprofile", "__dict__")
"""Of a guarded module."""
_NATIVE = ("register_custom_ops_library", "load_library", "CDLL")


_CHANGING = (
    "append",
    "extend",
    "insert",
    "update",
    "setdefault",
    "add",
    "clear",
    "pop",
    "remove",
    "__setitem__",
    "__iadd__",
)


def reaches(text: str) -> list[tuple[int, str]]:
    """(line, what it reaches for), once for each, sorted. Text that is no Python has none: another check says so."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = dict.fromkeys(_Scan(tree).found())
    seen = {line for line, _ in found}
    found.update(dict.fromkeys(one for one in dangerous_calls(text) if one[0] not in seen))
    return sorted(found)


class _Scan:
    """One file, with what its names stand for."""

    def __init__(self, tree: ast.AST) -> None:
        self._nodes = list(ast.walk(tree))
        self._bound = bound_names(tree, HARMLESS)
        self._local = local_names(tree)
        self._written_names = WrittenNames(tree, self._star)
        self._functions = {one.name for one in self._nodes if isinstance(one, ast.FunctionDef)}
        self._written = {
            id(one.value) for one in self._nodes if isinstance(one, ast.Subscript) and isinstance(one.ctx, ast.Store)
        }
        self._asked = {id(one.value) for one in self._nodes if isinstance(one, ast.Attribute)}
        if not self._written_names.binds("getattr"):  # what is asked of a module there is read by its names
            self._asked |= {
                id(one.args[0])
                for one in self._nodes
                if isinstance(one, ast.Call)
                and isinstance(one.func, ast.Name)
                and one.func.id == "getattr"
                and one.args
            }
        self._called = {id(one.func) for one in self._nodes if isinstance(one, ast.Call)}
        self._words = {id(one.value) for one in self._nodes if isinstance(one, ast.Expr)}  # a docstring

    @staticmethod
    def _star(module: str) -> list[str]:
        return names_of_star(module, HARMLESS)

    def found(self) -> Iterator[tuple[int, str]]:
        of: dict[type, Callable[..., Iterator[str]]] = {
            ast.Import: self._imported, ast.ImportFrom: self._imported, ast.Attribute: self._attribute, ast.Name: self._name,
            ast.Constant: self._constant, ast.Call: self._call, ast.BinOp: self._joined, ast.MatchClass: self._matched,
            ast.Subscript: self._subscript,
        }  # fmt: skip
        for node in self._nodes:
            if type(node) in of:
                yield from ((getattr(node, "lineno", 0), what) for what in of[type(node)](node))

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        names = [one.name for one in node.names]
        if isinstance(node, ast.ImportFrom):
            if node.level:
                return
            module = node.module or ""
            if module in _GUARDED and "*" in names:
                yield f"more of {module} than can be read"
            brought = names_of_star(module, HARMLESS) if "*" in names and module not in _GUARDED else []
            for name in brought:
                yield from _in_python(f"{module}.{name}")
            for name in names:
                yield from _of_module(module, name)
            names = [module, *(f"{module}.{name}" for name in names)]
        yield from (f"{what} (import of {name})" for name, what in map(module_told, names) if what)

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        module = "" if id(node.value) in self._local else dotted(node.value, self._bound)
        if id(node) in self._written and module in ("os", "posix"):
            return  # a variable that is set for a library reads nothing
        yield from _of_module(module, node.attr)
        if not isinstance(node.ctx, ast.Load) and is_elsewhere(module):
            yield f"what a name of another file stands for ({module}.{node.attr})"
        if f"{module}.{node.attr}" in _BY_NAME and id(node) not in self._called:
            yield f"what is named while it runs ({node.attr})"

    def _name(self, node: ast.Name) -> Iterator[str]:
        if not isinstance(node.ctx, ast.Load) or id(node) in self._local:
            return
        path = self._bound.get(node.id, "")
        if node.id in _BUILTINS:
            yield f"code that is made while it runs ({node.id})"
        elif node.id in _HIDDEN or node.id == "get_ipython":
            yield f"the insides of Python or IPython ({node.id})"
        elif (path or node.id) in _BY_NAME and id(node) not in self._called:
            yield f"what is named while it runs ({node.id})"
        elif id(node) not in self._asked and (
            path in _GUARDED
            or isinstance(in_python(path, HARMLESS), ModuleType)
            or (is_other_file(path) and id(node) not in self._called)
        ):
            yield f"{path} under a name that is made while it runs"

    def _constant(self, node: ast.Constant) -> Iterator[str]:
        if id(node) not in self._words and outside_text(node):
            yield f"files outside of the submission ({outside_text(node)[:60]!r})"

    def _joined(self, node: ast.BinOp) -> Iterator[str]:
        told = joined_text(node) or ("/" if divides_root(node, self._bound) else "")
        if told:
            yield f"files outside of the submission ({told[:60]!r})"

    def _matched(self, node: ast.MatchClass) -> Iterator[str]:
        for name in node.kwd_attrs:
            yield from _of_module("", name)

    def _subscript(self, node: ast.Subscript) -> Iterator[str]:
        if isinstance(node.slice, ast.Constant) and node.slice.value in ("__builtins__", "__globals__", "__import__"):
            yield f"the insides of Python or IPython ({node.slice.value})"

    def _call(self, node: ast.Call) -> Iterator[str]:
        path = dotted(node.func, self._bound)
        plain = node.func.id if isinstance(node.func, ast.Name) else ""
        name = path.rpartition(".")[2] or plain or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
        if name == "import_module":
            yield from _import_module(imported_by(node))
        changed = path.rpartition(".")[0] if name in _CHANGING else ""
        changed = dotted(node.args[0], self._bound) if plain in ("setattr", "delattr") and node.args else changed
        if is_elsewhere(changed):
            yield f"what a name of another file stands for ({changed})"
        if plain in ("getattr", "vars") or path == "operator.attrgetter":
            yield from self._by_name(node, name)
        if path in ("timeit.timeit", "timeit.repeat", "timeit.Timer"):
            asked = [*node.args[:2], *(one.value for one in node.keywords if one.arg in ("stmt", "setup", None))]
            if not all(map(self._is_function, asked)):
                yield f"code that is made while it runs ({name})"
        if name == "run" and len(node.args) == 1 and any(one.startswith("cProfile") for one in self._bound.values()):
            yield "code that is made while it runs (run of cProfile)"
        yield from (
            f"files outside of the submission ({told[:60]!r})" for told in outside_arguments(node, name, self._bound)
        )
        if name in ("home", "expanduser", "expandvars"):
            yield f"files outside of the submission ({name})"
        pickled = any(one.arg == "allow_pickle" and not _is_false(one.value) for one in node.keywords)
        unread = name == "load" and any(one.arg is None for one in node.keywords)
        third = path == "numpy.load" and len(node.args) > 2 and not _is_false(node.args[2])
        starred = path == "numpy.load" and any(isinstance(one, ast.Starred) for one in node.args)
        if pickled or unread or third or starred:
            yield "code that is stored as data (allow_pickle)"

    def _by_name(self, node: ast.Call, name: str) -> Iterator[str]:
        """What getattr, vars and attrgetter give."""
        if name == "vars":
            if not node.args or dotted(node.args[0], self._bound):
                yield "the insides of Python or IPython (vars)"
            return
        names = node.args[1:2] or node.args if name == "getattr" else node.args
        base = dotted(node.args[0], self._bound) if name == "getattr" else ""
        if is_other_file(base):
            yield f"what a name of another file stands for ({base})"
        place = self._names_at(node)
        for one in (told for each in names for told in place.of(each)):
            text = one[0] if len(one) == 1 else None
            if text is not None:
                yield from (what for part in text.split(".") for what in _of_module(base, part))
            elif name != "getattr" or _may_be_told(base, one):
                yield f"what is named while it runs ({name} of a name that is not written in the file)"

    def _names_at(self, node: ast.AST) -> WrittenNames:
        """As they are in the innermost function around it."""
        place = self._written_names
        for function in self._nodes:  # the outer ones come first
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                one is node for one in ast.walk(function)
            ):
                place = WrittenNames(function, self._star, place)
        return place

    def _is_function(self, node: ast.expr) -> bool:
        partial = isinstance(node, ast.Call) and dotted(node.func, self._bound) == "functools.partial"
        known = isinstance(node, ast.Name) and (node.id in self._functions or node.id in self._bound)
        return partial or known or isinstance(node, ast.Lambda)


def _of_os(name: str) -> str:
    return _OF_OS.get(name, "other processes" if name.startswith(("exec", "spawn")) else "")


def _of_module(module: str, name: str) -> Iterator[str]:
    """What `module.name` is, whether it is an attribute, imported, or told as a text; without a module: of any value."""
    what = _of_os(name) if module in ("os", "posix") else ""
    if what:
        yield f"{what} (os.{name})"
    if name in _HIDDEN or (name in _INSIDES and module in _GUARDED) or (name == "__dict__" and module):
        yield f"the insides of Python or IPython ({name})"
    elif name in _NATIVE:
        yield f"other processes or native code ({name})"
    elif name.lstrip("_") in _THROUGH and f"{module}.{name}" not in ("os.posix",):
        yield f"the module {name} through another"
    elif module == "importlib" and name not in _OF_IMPORTLIB:
        yield f"code from elsewhere (importlib.{name})"
    elif module and not what:
        yield from _in_python(f"{module}.{name}")


def _in_python(path: str) -> Iterator[str]:
    """What a name of a module of Python gives that is another module, a builtin, or comes from a module that does more."""
    value = in_python(path, HARMLESS)
    if isinstance(value, ModuleType):
        name = value.__name__.lstrip("_")
        if module_told(path)[1]:
            yield f"{module_told(path)[1]} ({path})"
        elif name in _THROUGH or module_told(name)[1]:
            yield f"the module {name} through another ({path})"
    elif isinstance(value, FunctionType) and value.__name__.startswith("_"):
        yield f"the insides of Python or IPython ({path})"
    elif any(value is getattr(builtins, one) for one in _BUILTINS):
        yield f"code that is made while it runs ({path})"
    elif module_told(path)[0] == path and module_told(path)[1]:
        yield f"{module_told(path)[1]} ({path})"


def _may_be_told(module: str, name: Name) -> bool:
    """Whether a name of which parts are not known may be one that leads further."""
    pattern = pattern_of(name)
    there = in_python(module, HARMLESS) if module else None
    names = {*_HIDDEN, *_INSIDES, *_NATIVE, *_OF_OS, "__dict__", *(dir(there) if there is not None else ())}
    names.update("_" * many + one for one in _THROUGH for many in range(3))
    return any(pattern.fullmatch(one) and any(_of_module(module, one)) for one in names)


def _import_module(name: str) -> Iterator[str]:
    if not name:
        yield "a module whose name is made while it runs (import_module)"
    elif module_told(name)[1] or name in _GUARDED:
        yield f"{module_told(name)[1] or 'a module under a name that is made while it runs'} (import of {name})"


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False
