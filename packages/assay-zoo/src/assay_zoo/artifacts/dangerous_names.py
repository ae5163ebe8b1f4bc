"""What a name leads to, whether it is an attribute, imported, or given as a text."""

from __future__ import annotations

import builtins
import functools
import re
import types
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType, ModuleType

from assay_zoo.artifacts.code_names import in_python
from assay_zoo.artifacts.known_modules import HARMLESS, module_told
from assay_zoo.artifacts.partial_texts import Name, pattern_of
from assay_zoo.artifacts.reached import Unread

_OF_OS = {
    "pardir": "files outside of the submission",
    **dict.fromkeys(("environ", "environb", "getenv", "getenvb", "putenv"), "the environment"),
    **dict.fromkeys(
        ("system", "popen", "fork", "forkpty", "kill", "killpg", "posix_spawn", "startfile"), "other processes"
    ),
}
GUARDED = ("os", "posix", "sys", "importlib", "shutil")
"""Modules of which a part is harmless: they are called by their names, so that the part can be read."""
_THROUGH = (*GUARDED, "subprocess", "socket", "builtins", "bltns", "ctypes", "ctypeslib", "pickle")
BUILTINS = ("exec", "eval", "compile", "__import__", "globals", "locals", "breakpoint")
_OF_IMPORTLIB = ("import_module", "reload", "metadata", "resources", "invalidate_caches")
OF_FRAMES = frozenset(
    attribute
    for kind in (
        types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
    )
    for attribute in dir(kind)
    if re.match(r"(?:f|co|tb|gi|cr|ag)_", attribute)
)  # fmt: skip
"""What Python's frames, code and generators have: it leads to what is run, and to what can be changed in it."""
HIDDEN = (
    *sorted(OF_FRAMES), "LambdaType", "walk_stack", "walk_tb", "StackSummary", "getouterframes", "getinnerframes", "settrace_all_threads",
    "__subclasses__", "__builtins__", "__globals__", "__loader__", "__spec__", "__code__", "__getattribute__", "__self__", "__import__",
    "f_globals", "f_builtins", "f_locals", "f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "exec_module", "load_module",
    "get_objects", "get_referrers", "get_referents", "currentframe", "getmembers", "getattr_static", "get_field", "get_type_hints",
    "ForwardRef", "evaluate_forward_ref", "FunctionType", "CodeType", "EntryPoint", "EntryPoints", "entry_points", "loadTestsFromName",
    "loadTestsFromNames", "runctx", "runstring", "rundocs", "getmodule", "getclosurevars", "getmembers_static", "breakpointhook",
    "__breakpointhook__",
)  # fmt: skip
"""Names that lead from any value to modules, frames or code, or that make code of texts."""
_PLAIN_DUNDERS = {
    *dir(0.0), *dir(0), *dir(""), *dir([]), *dir({}), *dir(set()), *dir(iter(())), *dir(open), *dir(ValueError()),
    "__module__", "__dict__", "__func__", "__wrapped__", "__file__", "__path__", "__mro__", "__bases__", "__enter__", "__exit__", "__del__",
} - {"__reduce__", "__reduce_ex__", "__getattribute__", "__self__", "__class_getitem__", "__setstate__"}  # fmt: skip
"""Of numbers, texts, tables and exceptions, and what is often asked of classes and files."""
_DUNDERS = {
    attribute
    for kind in (*vars(types).values(), *vars(builtins).values(), property)
    for attribute in dir(kind)
    if attribute.startswith("__") and attribute.endswith("__")
} - _PLAIN_DUNDERS
"""What Python's own values have beyond that: ways to functions, to what is copied or pickled, to annotations."""
_INSIDES = ("modules", "meta_path", "path_hooks", "_getframe", "_current_frames", "settrace", "setprofile", "__dict__")
"""Of a guarded module."""
_OF_TESTING = (
    "TestCase", "SkipTest", "suppress_warnings", "clear_and_catch_warnings", "tempdir", "temppath", "break_cycles", "IS_WASM", "IS_PYPY",
    "IS_64BIT", "HAS_REFCOUNT", "HAS_LAPACK64", "IS_MUSL", "NOGIL_BUILD", "verbose",
)  # fmt: skip
"""Of numpy.testing, beside what compares; more of it runs texts and processes."""
_DISPATCHING = (functools.singledispatch, functools.singledispatchmethod)
_FIELD = re.compile(r"\{([^{}!:]*)")
_NATIVE = (
    "register_custom_ops_library", "register_execution_provider_library", "preload_dlls", "load_library", "CDLL",
)  # fmt: skip
_OF_MODULES = ("__dict__", "__setattr__", "__delattr__")


def is_hidden(name: str) -> bool:
    """Whether it leads from any value to Python's insides."""
    return name in HIDDEN or name in _DUNDERS


def _of_os(name: str) -> str:
    return _OF_OS.get(name, "other processes" if name.startswith(("exec", "spawn")) else "")


def reached_by(module: str, name: str) -> Iterator[str]:
    """What `module.name` is, whether it is an attribute, imported, or given as a text; without a module: of any value."""
    what = _of_os(name) if module in ("os", "posix") else ""
    if what:
        yield f"{what} (os.{name})"
    if (
        is_hidden(name)
        or f"{module}.{name}" == "string.Formatter"
        or (name in _INSIDES and module in GUARDED)
        or (name in _OF_MODULES and module)
        or (module == "IPython" and name != "display")
    ):
        yield f"the insides of Python or IPython ({name})"
    elif module.startswith("numpy.testing") and not (name.startswith(("assert", "_assert")) or name in _OF_TESTING):
        yield f"code that is made while it runs ({module}.{name})"
    elif name == "test" and module.partition(".")[0] in ("numpy", "scipy"):
        yield f"code that is made while it runs ({module}.test runs pytest, by its arguments on any text)"
    elif name == "register" and hasattr(in_python(module, HARMLESS), "dispatch"):
        yield Unread(f"code that is made while it runs ({module}.register reads annotations)")
    elif name in _NATIVE:
        yield f"other processes or native code ({name})"
    elif name == "sys" and not module:
        yield Unread("the module sys through another")
    elif name.lstrip("_") in _THROUGH and f"{module}.{name}" not in ("os.posix",):
        yield f"the module {name} through another"
    elif module == "importlib" and name not in _OF_IMPORTLIB:
        yield f"code from elsewhere (importlib.{name})"
    elif module and not what:
        yield from reached_in_python(f"{module}.{name}")


def reached_in_python(path: str) -> Iterator[str]:
    """What a name of a module of Python gives that is another module, a builtin, or comes from a module that does more."""
    value = in_python(path, HARMLESS)
    if value in _DISPATCHING:
        yield Unread(
            f"code that is made while it runs ({path} runs annotations that are texts: write a dict of functions by class)"
        )
    elif isinstance(value, ModuleType):
        name = value.__name__.lstrip("_")
        if module_told(path)[1]:
            yield f"{module_told(path)[1]} ({path})"
        elif name in _THROUGH or module_told(name)[1]:
            yield f"the module {name} through another ({path})"
    elif isinstance(value, FunctionType) and path.rpartition(".")[2].startswith("_"):
        yield f"the insides of Python or IPython ({path})"
    elif isinstance(value, FunctionType) and value.__name__ == "main":
        yield f"a program of Python itself ({path})"
    elif any(value is getattr(builtins, builtin) for builtin in BUILTINS):
        yield f"code that is made while it runs ({path})"
    elif module_told(path)[0] == path and module_told(path)[1]:
        yield f"{module_told(path)[1]} ({path})"


@lru_cache(maxsize=4096)
def may_reach(module: str, name: Name) -> bool:
    """Whether a name of which parts are not known may be one that leads further."""
    pattern = pattern_of(name)
    if module.startswith("numpy.testing"):
        return True
    there = in_python(module, HARMLESS) if module else None
    names = {*HIDDEN, *_DUNDERS, *_INSIDES, *_NATIVE, *_OF_OS, *_OF_MODULES, *(dir(there) if there is not None else ())}
    names.update("_" * many + way for way in _THROUGH for many in range(3))
    return any(pattern.fullmatch(candidate) and any(reached_by(module, candidate)) for candidate in names)


def reached_by_format(text: str) -> Iterator[str]:
    """What `'{0.NAME}'.format(x)` asks of a value; a zero byte stands for any text."""
    for field in _FIELD.findall(text):
        for name in field.replace("]", "").replace("[", ".").split(".")[1:]:
            if "\0" in name:
                yield Unread(
                    f"what is named while it runs (a text that is put together, with {{{field.partition(chr(0))[0]}...}} in it)"
                )
            else:
                yield from reached_by("object", name)


def reached_by_import(name: str) -> Iterator[str]:
    if not name:
        yield Unread("a module whose name is made while it runs (import_module)")
    elif module_told(name)[1] or name in GUARDED:
        what = module_told(name)[1]
        yield (
            f"{what} (import of {name})"
            if what
            else Unread(f"a module under a name that is made while it runs (import of {name})")
        )
