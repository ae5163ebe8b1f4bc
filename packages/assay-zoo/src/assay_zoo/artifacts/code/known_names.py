"""What a name leads to that stands in the code of a submission, whether it is an attribute, imported, or given as a text."""

from __future__ import annotations

import builtins
import importlib
import operator
import re
import sys
import types
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any

from assay_zoo.artifacts.code.known_modules import HARMLESS, module_meaning
from assay_zoo.artifacts.code.reached import Unread

BUILTINS = ("exec", "eval", "compile", "__import__", "globals", "locals", "breakpoint")
GUARDED = ("os", "posix", "sys", "importlib", "shutil")
"""Modules of which a part is harmless: they are called by their names, so that the part can be read."""
_OF_OS = {
    "pardir": "files outside of the submission",
    **dict.fromkeys(("environ", "environb", "getenv", "getenvb", "putenv"), "the environment"),
    **dict.fromkeys(
        ("system", "popen", "fork", "forkpty", "kill", "killpg", "posix_spawn", "startfile"), "other processes"
    ),
}
_STARTING = re.compile(r"(?:exec|spawn)[lv]p?e?")
_THROUGH = (*GUARDED, "subprocess", "socket", "builtins", "bltns", "ctypes", "ctypeslib", "pickle")
_OF_FRAMES = re.compile(r"(?:f|co|tb|gi|cr|ag)_")
HIDDEN = frozenset(
    name
    for kind in (
        types.FrameType, types.CodeType, types.TracebackType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType,
    )
    for name in dir(kind)
    if _OF_FRAMES.match(name)
) | {
    "LambdaType", "FunctionType", "CodeType", "walk_stack", "walk_tb", "StackSummary", "getouterframes", "getinnerframes", "currentframe",
    "settrace_all_threads", "__subclasses__", "__builtins__", "__globals__", "__loader__", "__spec__", "__code__", "__getattribute__",
    "__self__", "__import__", "exec_module", "load_module", "get_objects", "get_referrers", "get_referents", "getmembers",
    "getmembers_static", "getattr_static", "getmodule", "getclosurevars", "get_field", "get_type_hints", "ForwardRef",
    "evaluate_forward_ref", "EntryPoint", "EntryPoints", "entry_points", "loadTestsFromName", "loadTestsFromNames", "runctx", "runstring",
    "rundocs", "breakpointhook", "__breakpointhook__", "get_ipython",
}  # fmt: skip
"""Names that lead from any value to modules, frames or code, or that make code of texts."""
_OPERATORS = {name for name in dir(operator) if name.startswith("__")} - {
    "__builtins__", "__cached__", "__loader__", "__package__", "__spec__",
}  # fmt: skip
_WORDS = (
    "init new call len iter next enter exit repr str name qualname version doc main post_init hash bool int float round reversed format "
    "fspath array getattr all author license date slots divmod aiter anext aenter aexit await future setattr init_subclass package "
    "missing trunc floor ceil length_hint copy deepcopy copyright credits email status maintainer contact title summary debug file class"
)
PLAIN_DUNDERS = _OPERATORS | {f"__r{dunder[2:]}" for dunder in _OPERATORS} | {f"__{part}__" for part in _WORDS.split()}
_REGISTERING = re.compile(r"(?:un)?register_|set_(?:global_)?backend|set_global_")
"""By such a function a package is given something that it then calls."""
_INSTEAD = {"yaml.load": ": write yaml.safe_load", "sys.flags": ": leave it out"}
_OF_NAMEDTUPLES = ("_asdict", "_replace", "_fields", "_make")
_NATIVE = ("register_custom_ops_library", "register_execution_provider_library", "preload_dlls", "load_library", "CDLL")
_MADE = "code that is made while it runs"
_ASKED = {
    **dict.fromkeys(("singledispatch", "singledispatchmethod", "make_dataclass"), _MADE),
    **dict.fromkeys(("symlink_to", "hardlink_to", "extractall", "unpack_archive"), "files that are made while it runs"),
    **dict.fromkeys(
        ("from_pretrained", "load_dataset", "hf_hub_download", "snapshot_download", "download_url", "load_url"), "the network"
    ),
    **dict.fromkeys(("format_map", "format_field", "vformat"), "what is named while it runs"),
    **dict.fromkeys(("LowLevelCallable", "load_inline"), "native code"),
    **dict.fromkeys(("read_module", "load_backend_module"), "code from elsewhere"),
    **dict.fromkeys(("dont_write_bytecode", "optimized_model_filepath"), "more than a submission needs"),
    **dict.fromkeys(("rc_file", "rc_params_from_file"), "settings that are read from a file"),
    **dict.fromkeys(("read_pickle", "unsafe_eval", "read_sql", "FileType"), "more than is plainly harmless"),
    **dict.fromkeys(("anchor", "FileIO", "parent_process"), "files that are named while it runs"),
}  # fmt: skip
"""Of any value."""
_PLAIN = {
    "os": (
        "path cpu_count process_cpu_count sched_getaffinity makedirs mkdir listdir scandir walk getcwd sep altsep extsep "
        "pathsep curdir linesep devnull name PathLike fspath fsencode fsdecode remove unlink rename replace rmdir "
        "removedirs stat stat_result DirEntry chdir getpid urandom access R_OK W_OK X_OK F_OK utime strerror error "
        "get_terminal_size times truncate environ getenv SEEK_SET SEEK_END"
    ),
    "sys": (
        "argv exit path version version_info stdout stderr stdin platform maxsize float_info byteorder executable getsizeof "
        "getrecursionlimit setrecursionlimit hexversion implementation exc_info getdefaultencoding intern"
    ),
    "shutil": "copy copy2 copyfile copyfileobj copytree move rmtree disk_usage get_terminal_size",
    "importlib": "import_module reload metadata resources invalidate_caches",
    "inspect": (
        "signature Parameter isfunction isclass ismethod isgenerator isgeneratorfunction iscoroutinefunction isabstract getdoc cleandoc "
        "getfullargspec getsource"
    ),
    "types": "SimpleNamespace MappingProxyType NoneType EllipsisType UnionType GenericAlias ModuleType TracebackType GeneratorType",
    "platform": (
        "system machine processor release version platform python_version python_version_tuple python_implementation architecture "
        "python_compiler mac_ver win32_ver libc_ver"
    ),
    "unittest": "TestCase TestSuite skip skipIf skipUnless expectedFailure SkipTest main mock",
    "urllib": "parse error",
    "weakref": "ref proxy WeakValueDictionary WeakKeyDictionary WeakSet finalize",
    "threading": (
        "Thread Lock RLock Event Condition Semaphore BoundedSemaphore Barrier Timer local current_thread main_thread active_count get_ident"
    ),
    "traceback": "print_exc format_exc print_exception format_exception format_exception_only",
    "uuid": "UUID uuid3 uuid4 uuid5 NAMESPACE_DNS NAMESPACE_URL",
    "gc": "collect enable disable isenabled freeze",
    "fileinput": "input",
    "optparse": "OptionParser OptionGroup Option make_option OptionError OptionValueError SUPPRESS_HELP",
    "cProfile": "",
    "yaml": "safe_load safe_load_all safe_dump safe_dump_all dump YAMLError SafeLoader CSafeLoader SafeDumper CSafeDumper __version__",
    "IPython": "display",
}  # fmt: skip
_NAMES = {module: frozenset(names.split()) for module, names in _PLAIN.items()}
_INSIDES = (
    "string.Formatter",
    "sys.modules",
    "sys.meta_path",
    "sys.path_hooks",
    "sys.settrace",
    "sys.setprofile",
    "sys._getframe",
)
_OF_TESTING = re.compile(r"_?assert\w*|TestCase|SkipTest|suppress_warnings|temp(?:dir|path)|IS_\w+|HAS_\w+")
"""Of numpy.testing: more of it runs texts and processes."""
_FIELD = re.compile(r"\{([^{}!:]*)")


def reached_by(module: str, name: str) -> Iterator[str]:
    """What `module.name` is; without a module: `name` of any value."""
    path = f"{module}.{name}" if module else name
    of_os = _OF_OS.get(name, "other processes" if _STARTING.fullmatch(name) else "")
    named, what = module_meaning(path) if module else ("", "")
    if of_os and module in ("os", "posix", ""):
        yield f"{of_os} (os.{name})" if module else Unread(f"{of_os} ({name})")
    elif (
        name in HIDDEN or path in _INSIDES or (module.startswith("IPython") and not path.startswith("IPython.display"))
    ):
        yield f"the insides of Python or IPython ({name})"
    elif name in _NATIVE:
        yield f"other processes or native code ({name})"
    elif what:
        yield f"{what} (import of {named})" if named == path else f"{what} ({path})"
    elif name == "sys" and not module:
        yield Unread("the module sys through another")
    elif name.lstrip("_") in _THROUGH and path != "os.posix":
        yield f"the module {name} through another"
    elif module.startswith("numpy.testing") and not _OF_TESTING.fullmatch(name):
        yield f"code that is made while it runs ({path})"
    elif name == "test" and module.partition(".")[0] in ("numpy", "scipy"):
        yield f"code that is made while it runs ({path} runs pytest, by its arguments on any text)"
    elif module in _NAMES and name not in _NAMES[module] | PLAIN_DUNDERS | {"*"}:
        yield Unread(f"more than is plainly harmless ({path}{_INSTEAD.get(path, '')})")
    elif module and _REGISTERING.match(name) and module.partition(".")[0] not in sys.stdlib_module_names:
        yield Unread(f"what a package does ({path})")
    elif name in _ASKED or (name == "register" and hasattr(in_python(module), "dispatch")):
        yield Unread(f"{_ASKED.get(name, _MADE)} ({name})")
    elif module and name.startswith("_") and name not in PLAIN_DUNDERS and name not in _OF_NAMEDTUPLES:
        yield Unread(f"the insides of a package ({path})")
    elif name.startswith("__") and name.endswith("__") and name not in PLAIN_DUNDERS:
        yield Unread(f"the insides of Python ({name})")
    elif module:
        yield from _of_python(path)


def _of_python(path: str) -> Iterator[str]:
    """What a name of a module of Python gives that is another module, a builtin, or a program."""
    value = in_python(path)
    if isinstance(value, ModuleType):
        name = value.__name__.lstrip("_")
        if name in _THROUGH or module_meaning(name)[1]:
            yield f"the module {name} through another ({path})"
    elif isinstance(value, FunctionType) and value.__name__ == "main" and not path.startswith("unittest"):
        yield f"a program of Python itself ({path})"
    elif any(value is getattr(builtins, builtin) for builtin in BUILTINS):
        yield f"code that is made while it runs ({path})"


def reached_by_format(text: str) -> Iterator[str]:
    """What `'{0.NAME}'.format(x)` asks of a value."""
    for field in _FIELD.findall(text):
        for name in field.replace("]", "").replace("[", ".").split(".")[1:]:
            yield from reached_by("", name)
    if re.search(r"\{\w*\.[^{}\s]*$", text):
        yield Unread("what is named while it runs (a text with a part of a field)")


@lru_cache(maxsize=4096)
def in_python(path: str) -> Any:
    """What the path is in this Python, where its first part is a harmless module of Python itself; else None."""
    top, *rest = path.split(".")
    if top not in HARMLESS or top not in sys.stdlib_module_names:
        return None
    value, at = _module(top), top
    for name in rest:
        if not isinstance(value, ModuleType):
            return None
        at = f"{at}.{name}"
        value = vars(value).get(name) or (None if name.startswith("_") else _module(at))
    return value


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
