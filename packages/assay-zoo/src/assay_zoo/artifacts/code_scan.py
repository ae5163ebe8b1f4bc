"""What code of a submission reaches for beyond its own files: processes, the network, the environment, other people's files.

The rules for dangerous calls are bandit's. What bandit does not ask, because a program of one's own may do it, is asked here.
"""

from __future__ import annotations

import ast
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping

_BANDIT = (
    "B102", "B202", "B301", "B302", "B306", "B307", "B310", "B312", "B321", "B401", "B402", "B403", "B404", "B411", "B412",
    "B415", "B507", "B601", "B602", "B603", "B604", "B605", "B606", "B607", "B609", "B614", "B615",
)  # fmt: skip
"""exec, eval, pickle, marshal, archives unpacked anywhere, shells and processes, network clients, models loaded as code."""
_WORDS = re.compile(
    r"\b(exec\w*|eval|c?pickle|dill|shelve|jsonpickle|marshal|mktemp|temp?nam|urlopen|urlretrieve|urllib\w*|telnetlib|ftplib|xmlrpc\w*|"
    r"pyghmi|wsgiref|twisted|paramiko|subprocess|popen\w*|system|spawn\w*|startfile|commands|shell|tarfile|extractall|torch|pandas|"
    r"from_pretrained|load_dataset|hf_hub_download|snapshot_download|getoutput|fork\w*)\b",
    re.IGNORECASE,
)
"""What those rules speak of: bandit takes a fifth of a second to load, and code without one of these words needs it not."""
_HARMLESS = (
    "__future__", "abc", "argparse", "array", "ast", "atexit", "base64", "binascii", "bisect", "bz2", "calendar", "cmath", "codecs",
    "collections", "colorsys", "concurrent", "contextlib", "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum",
    "errno", "faulthandler", "fnmatch", "fractions", "functools", "gc", "getopt", "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac",
    "html", "importlib", "inspect", "io", "itertools", "json", "keyword", "linecache", "locale", "logging", "lzma", "math", "mimetypes",
    "mmap", "numbers", "operator", "os", "pathlib", "platform", "pprint", "queue", "random", "re", "reprlib", "secrets", "shlex",
    "shutil", "statistics", "string", "stringprep", "struct", "sys", "tarfile", "tempfile", "textwrap", "threading", "time", "timeit",
    "token", "tokenize", "tomllib", "traceback", "tracemalloc", "types", "typing", "unicodedata", "unittest", "urllib", "uuid",
    "warnings", "wave", "weakref", "xml", "zipfile", "zlib", "zoneinfo",
)  # fmt: skip
"""Modules of Python itself that compute, or read what they are given; every other one does more."""
_NETWORK = (
    "socket", "socketserver", "ssl", "http", "urllib.request", "urllib3", "requests", "httpx", "aiohttp", "ftplib", "smtplib",
    "imaplib", "poplib", "xmlrpc", "telnetlib", "paramiko", "websockets", "huggingface_hub", "webbrowser", "asyncio", "wsgiref",
)  # fmt: skip
_PROCESS = ("subprocess", "multiprocessing", "pty", "ctypes", "cffi", "signal", "runpy", "code", "resource")
_CODE = ("marshal", "pickle", "dill", "cloudpickle", "joblib", "shelve", "copyreg")
_MODULES = {
    **dict.fromkeys(_NETWORK, "the network"),
    **dict.fromkeys(_PROCESS, "other processes or native code"),
    **dict.fromkeys(_CODE, "code that is stored as data"),
    **dict.fromkeys(("getpass", "pwd", "keyring", "netrc"), "accounts and passwords"),
    **dict.fromkeys(("importlib.machinery", "importlib.util"), "code from elsewhere"),
}
_OF_OS = {
    **dict.fromkeys(("environ", "environb", "getenv", "getenvb"), "the environment"),
    **dict.fromkeys(
        ("system", "popen", "fork", "forkpty", "kill", "killpg", "posix_spawn", "startfile"), "other processes"
    ),
}
_GUARDED = ("os", "posix", "sys", "importlib", "shutil")
"""Modules of which a part is harmless: they are called by their names, so that the part can be read."""
_THROUGH = (*_GUARDED, "subprocess", "socket", "builtins", "ctypes", "ctypeslib", "pickle")
_BUILTINS = ("exec", "eval", "compile", "__import__", "globals", "breakpoint")
_HIDDEN = (
    "__subclasses__", "__builtins__", "__globals__", "__loader__", "__spec__", "__code__", "__getattribute__", "f_globals", "f_builtins",
    "f_locals", "exec_module", "load_module",
)  # fmt: skip
_INSIDES = ("modules", "meta_path", "path_hooks", "_getframe", "settrace", "__dict__")
"""Of a guarded module."""
_NATIVE = ("register_custom_ops_library", "load_library", "CDLL")
_OUTSIDE = re.compile(
    r"(?:/(?:etc|root|home|proc|sys|dev|var|usr|opt|mnt|run|tmp|bin|boot|srv)(?:/|$)|~[\w.-]*/|~$|\.\.(?:/|$)|[A-Za-z]:\\)"
)
_READING = (
    "open",
    "Path",
    "PosixPath",
    "read_text",
    "load",
    "loadtxt",
    "imread",
    "read_csv",
    "listdir",
    "scandir",
    "glob",
    "walk",
)


def reaches(text: str) -> list[tuple[int, str]]:
    """(line, what it reaches for), once for each, sorted. Text that is no Python has none: another check says so."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    found = dict.fromkeys(_own(tree))
    seen = {line for line, _ in found}
    if _WORDS.search(text):
        found.update(dict.fromkeys(one for one in _by_bandit(text) if one[0] not in seen))
    return sorted(found)


def _own(tree: ast.AST) -> Iterator[tuple[int, str]]:
    modules = _guarded_names(tree)
    nodes = list(ast.walk(tree))
    written = {id(node.value) for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)}
    asked = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    words = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # a docstring
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node)
        elif isinstance(node, ast.Attribute):
            yield from ((node.lineno, what) for what in _attribute(node, modules, id(node) in written))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in _BUILTINS:
                yield node.lineno, f"code that is made while it runs ({node.id})"
            elif node.id in _HIDDEN or node.id == "get_ipython":
                yield node.lineno, f"the insides of Python or IPython ({node.id})"
            elif node.id in modules and id(node) not in asked:
                yield node.lineno, f"{modules[node.id]} under a name that is made while it runs"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in words:
            if _OUTSIDE.match(node.value):
                yield node.lineno, f"files outside of the submission ({node.value[:60]!r})"
        elif isinstance(node, ast.Call):
            yield from ((node.lineno, what) for what in _called(node))


def _guarded_names(tree: ast.AST) -> dict[str, str]:
    """What the guarded modules are called in this file, `os` also where nobody imports it."""
    names = {"os": "os", "posix": "posix"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {one.asname or one.name: one.name for one in node.names if one.name in _GUARDED}
    return names


def _of_os(name: str) -> str:
    return _OF_OS.get(name, "other processes" if name.startswith(("exec", "spawn")) else "")


def _attribute(node: ast.Attribute, modules: Mapping[str, str], written: bool) -> Iterator[str]:
    module = modules.get(node.value.id, "") if isinstance(node.value, ast.Name) else ""
    what = _of_os(node.attr) if module in ("os", "posix") else ""
    if what and not written:  # a variable that is set for a library reads nothing
        yield f"{what} (os.{node.attr})"
    if node.attr in _HIDDEN or (module and node.attr in _INSIDES):
        yield f"the insides of Python or IPython ({node.attr})"
    elif node.attr in _THROUGH:
        yield f"the module {node.attr} through another"
    elif node.attr in _NATIVE:
        yield f"other processes or native code ({node.attr})"


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[int, str]]:
    names = [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return
        module = node.module or ""
        if module in ("os", "posix"):
            yield from ((node.lineno, f"{_of_os(name)} (os.{name})") for name in names if _of_os(name))
        if module in _GUARDED and {"*", *_INSIDES} & set(names):
            yield node.lineno, f"more of {module} than can be read"
        names = [module, *(f"{module}.{name}" for name in names)]
    yield from ((node.lineno, f"{what} (import of {name})") for name, what in map(_module, names) if what)


def _module(name: str) -> tuple[str, str]:
    """The module of which something is told, and what."""
    top = name.partition(".")[0]
    for one in (top, name):
        if one in _MODULES:
            return one, _MODULES[one]
    more = top in sys.stdlib_module_names and top not in _HARMLESS
    return top, "more than files and numbers" if more else ""


def _called(node: ast.Call) -> Iterator[str]:
    plain = node.func.id if isinstance(node.func, ast.Name) else ""
    name = plain or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
    first = node.args[0] if node.args else None
    told = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    if name == "import_module":
        who, what = _module(told) if told else ("", "")
        if what or not told:
            yield f"{what} (import of {who})" if told else "a module whose name is made while it runs (import_module)"
    if name in ("timeit", "repeat") and told:
        yield f"code that is made while it runs ({name})"
    if name in _READING and len(told) > 1 and told.startswith("/") and not _OUTSIDE.match(told):
        yield f"files outside of the submission ({told[:60]!r})"
    if name in ("home", "expanduser", "expandvars"):
        yield f"files outside of the submission ({name})"
    pickled = any(one.arg == "allow_pickle" and not _is_false(one.value) for one in node.keywords)
    if pickled or (name == "load" and len(node.args) > 2 and not _is_false(node.args[2])):
        yield "code that is stored as data (allow_pickle)"


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _by_bandit(text: str) -> list[tuple[int, str]]:
    """By bandit's own rules; what a comment of the submitter's would silence is told all the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bandit 1.9.4 asks stevedore 5.10 in a way that is on its way out
        return list(_issues(text))


def _issues(text: str) -> Iterator[tuple[int, str]]:
    from bandit.core.config import BanditConfig
    from bandit.core.manager import BanditManager

    logging.getLogger("bandit").setLevel(logging.CRITICAL)
    descriptor = os.memfd_create("source")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(text.encode())
        asked = BanditManager(BanditConfig(), "file", quiet=True, profile={"include": list(_BANDIT)}, ignore_nosec=True)
        asked.discover_files([f"/proc/self/fd/{descriptor}"])
        asked.run_tests()
        for one in asked.get_issue_list():
            yield one.lineno, f"something dangerous ({one.test_id}: {' '.join(str(one.text).split())[:120]})"
    finally:
        os.close(descriptor)
