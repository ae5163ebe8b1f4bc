"""What code of a submission reaches for beyond its own files: processes, the network, the environment, other people's files.

The rules for dangerous calls are bandit's. What bandit does not ask, because a program of one's own may do it, is asked here.
"""

from __future__ import annotations

import ast
import logging
import os
import re
import warnings
from collections.abc import Iterator

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
_NETWORK = (
    "socket", "socketserver", "ssl", "http", "urllib.request", "urllib3", "requests", "httpx", "aiohttp", "ftplib", "smtplib",
    "imaplib", "poplib", "xmlrpc", "telnetlib", "paramiko", "websockets", "huggingface_hub", "webbrowser",
)  # fmt: skip
_PROCESS = ("subprocess", "multiprocessing", "pty", "ctypes", "cffi", "signal", "runpy", "code", "resource")
_CODE = ("marshal", "pickle", "dill", "cloudpickle", "joblib", "shelve")
_MODULES = {
    **dict.fromkeys(_NETWORK, "the network"),
    **dict.fromkeys(_PROCESS, "other processes or native code"),
    **dict.fromkeys(_CODE, "code that is stored as data"),
    **dict.fromkeys(("getpass", "pwd", "keyring", "netrc"), "accounts and passwords"),
}
_OF_OS = {
    **dict.fromkeys(("environ", "environb", "getenv", "getenvb"), "the environment"),
    **dict.fromkeys(
        ("system", "popen", "fork", "forkpty", "kill", "killpg", "posix_spawn", "startfile"), "other processes"
    ),
}
_BUILTINS = ("exec", "eval", "compile", "__import__", "globals", "breakpoint")
_HIDDEN = ("__subclasses__", "__builtins__", "__globals__", "__loader__", "__code__")
_OUTSIDE = ("/", "~", "../")
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
    modules = _os_names(tree)
    written = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _imported(node)
        elif isinstance(node, ast.Attribute):
            what = _of_os(node.attr) if isinstance(node.value, ast.Name) and node.value.id in modules else ""
            if what and id(node) not in written:  # a variable that is set for a library reads nothing
                yield node.lineno, f"{what} (os.{node.attr})"
            if node.attr in _HIDDEN:
                yield node.lineno, f"Python's own insides ({node.attr})"
        elif isinstance(node, ast.Call):
            yield from _called(node, modules)


def _os_names(tree: ast.AST) -> set[str]:
    """What the module `os` is called in this file."""
    names = {"os", "posix"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {one.asname or one.name for one in node.names if one.name in ("os", "posix")}
    return names


def _of_os(name: str) -> str:
    return _OF_OS.get(name, "other processes" if name.startswith(("exec", "spawn")) else "")


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return
        module = node.module or ""
        if module in ("os", "posix"):
            told = ((one.name, _of_os(one.name)) for one in node.names)
            yield from ((node.lineno, f"{what} (os.{name})") for name, what in told if what)
        names = [module, *(f"{module}.{one.name}" for one in node.names)]
    else:
        names = [one.name for one in node.names]
    for name in names:
        if what := next((_MODULES[one] for one in (name, name.partition(".")[0]) if one in _MODULES), ""):
            yield (
                node.lineno,
                f"{what} (import of {name.partition('.')[0] if name.partition('.')[0] in _MODULES else name})",
            )


def _called(node: ast.Call, modules: set[str]) -> Iterator[tuple[int, str]]:
    plain = node.func.id if isinstance(node.func, ast.Name) else ""
    name = plain or (node.func.attr if isinstance(node.func, ast.Attribute) else "")
    if plain in _BUILTINS:
        yield node.lineno, f"code that is made while it runs ({plain})"
    first = node.args[0] if node.args else None
    if name == "import_module" and not isinstance(first, ast.Constant):
        yield node.lineno, "a module whose name is made while it runs (import_module)"
    if (
        plain in ("getattr", "vars")
        and isinstance(first, ast.Name)
        and first.id in modules | {"__builtins__", "builtins"}
    ):
        yield node.lineno, f"{first.id} under a name that is made while it runs ({plain})"
    if plain == "get_ipython":
        yield node.lineno, "the shell of IPython (get_ipython)"
    told = first.value if name in _READING and isinstance(first, ast.Constant) else ""
    if isinstance(told, str) and len(told) > 1 and told.startswith(_OUTSIDE):
        yield node.lineno, f"files outside of the submission ({told[:60]!r})"
    if name in ("home", "expanduser", "expandvars"):
        yield node.lineno, f"files outside of the submission ({name})"
    if any(one.arg == "allow_pickle" and not _is_false(one.value) for one in node.keywords):
        yield node.lineno, "code that is stored as data (allow_pickle)"


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
