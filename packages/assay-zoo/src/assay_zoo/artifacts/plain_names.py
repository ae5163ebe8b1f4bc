"""Names that are plainly harmless, of Python and of modules of which the rest is not: a person is asked about the rest."""

from __future__ import annotations

import importlib.util
import operator
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

_OPERATORS = {name for name in dir(operator) if name.startswith("__")} - {
    "__builtins__", "__cached__", "__loader__", "__package__", "__spec__",
}  # fmt: skip
_WORDS = (
    "init new call len iter next enter exit repr str name qualname file version doc main post_init hash bool int "
    "float round reversed format fspath array getattr class all author license date slots divmod aiter anext aenter "
    "aexit await future dict setattr init_subclass package missing array trunc floor ceil length_hint copy deepcopy "
    "copyright credits email status maintainer contact title summary debug"
)
PLAIN_DUNDERS = _OPERATORS | {f"__r{dunder[2:]}" for dunder in _OPERATORS} | {f"__{part}__" for part in _WORDS.split()}
"""`__dict__` and `__setattr__` have rules of their own."""
_PLAIN = {
    "os": (
        "path cpu_count process_cpu_count sched_getaffinity makedirs mkdir listdir scandir walk getcwd sep altsep extsep "
        "pathsep curdir pardir linesep devnull name PathLike fspath fsencode fsdecode remove unlink rename replace rmdir "
        "removedirs stat stat_result DirEntry chdir getpid urandom access R_OK W_OK X_OK F_OK utime strerror error "
        "get_terminal_size times truncate environ getenv posix SEEK_SET SEEK_END"
    ),
    "sys": (
        "argv exit path version version_info stdout stderr stdin platform maxsize float_info byteorder executable getsizeof modules flags "
        "getrecursionlimit setrecursionlimit hexversion implementation exc_info getdefaultencoding intern prefix base_prefix"
    ),
    "inspect": (
        "signature Signature Parameter isfunction isclass ismethod isgenerator isgeneratorfunction iscoroutinefunction isabstract getdoc "
        "cleandoc getfullargspec getsource"
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
    "yaml": "safe_load safe_load_all safe_dump safe_dump_all dump load YAMLError SafeLoader CSafeLoader SafeDumper CSafeDumper __version__",
}  # fmt: skip
_NAMES = {module: frozenset(names.split()) for module, names in _PLAIN.items()}


def more_than_plain(path: str) -> bool:
    """Whether a dotted name is of one of these modules, and none of its plain names."""
    top, _, rest = path.partition(".")
    name = rest.partition(".")[0]
    return bool(name) and name != "*" and top in _NAMES and name not in _NAMES[top] and name not in PLAIN_DUNDERS


@lru_cache(maxsize=4096)
def is_package_module(path: str) -> bool:
    """Whether a name of an allowed package is a module, by the files of the package: nothing of it is imported."""
    top, *parts = path.split(".")
    if not parts:
        return True
    for folder in _folders(top):
        above = folder.joinpath(*parts[:-1])
        if (above / parts[-1]).is_dir() or any(above.glob(f"{parts[-1]}.py")) or any(above.glob(f"{parts[-1]}.*so")):
            return True
    return False


def _folders(top: str) -> Iterator[Path]:
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return
    yield from map(Path, (spec.submodule_search_locations or ()) if spec else ())
