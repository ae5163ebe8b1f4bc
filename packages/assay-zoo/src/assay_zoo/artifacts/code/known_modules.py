"""Modules by their names: which of Python only compute, and what the others are for."""

from __future__ import annotations

import sys

HARMLESS = (
    "__future__", "abc", "argparse", "array", "ast", "atexit", "base64", "binascii", "bisect", "bz2", "calendar", "cmath", "codecs",
    "collections", "colorsys", "concurrent", "configparser", "contextlib", "contextvars", "copy", "cProfile", "csv", "dataclasses",
    "datetime", "decimal", "difflib", "enum", "errno", "faulthandler", "filecmp", "fileinput", "fnmatch", "fractions", "functools",
    "gc", "genericpath", "getopt", "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html", "importlib", "inspect", "io",
    "ipaddress", "itertools", "json", "keyword", "linecache", "locale", "logging", "lzma", "math", "mimetypes", "mmap", "ntpath",
    "numbers", "operator", "optparse", "os", "pathlib", "platform", "plistlib", "posixpath", "pprint", "pstats", "queue", "quopri",
    "random", "re", "reprlib", "sched", "secrets", "shlex", "shutil", "stat", "statistics", "string", "stringprep", "struct", "sys",
    "tarfile", "tempfile", "textwrap", "threading", "time", "timeit", "token", "tokenize", "tomllib", "traceback", "tracemalloc",
    "types", "typing", "unicodedata", "unittest", "urllib", "uuid", "warnings", "wave", "weakref", "xml", "zipfile", "zlib",
    "zoneinfo",
)  # fmt: skip
"""Modules of Python itself that compute, or read what they are given; every other one does more."""
_NETWORK = (
    "socket", "socketserver", "ssl", "http", "urllib.request", "urllib.robotparser", "urllib3", "requests", "httpx", "aiohttp", "ftplib",
    "smtplib", "imaplib", "poplib", "xmlrpc", "telnetlib", "paramiko", "websockets", "huggingface_hub", "webbrowser", "asyncio", "wsgiref",
)  # fmt: skip
_READERS = (
    "xml.sax.parse", "xml.sax.make_parser", "xml.sax.expatreader", "xml.sax.xmlreader", "xml.sax.saxutils.prepare_input_source",
    "xml.sax.saxutils.XMLFilterBase", "xml.dom.pulldom", "xml.dom.xmlbuilder", "numpy.DataSource", "numpy.lib.npyio.DataSource",
    "numpy.lib._datasource", "scipy.datasets", "onnx.hub", "onnx.backend.test", "torch.hub",
    "onnxruntime.transformers.large_model_exporter", "onnxruntime.transformers.benchmark", "onnxruntime.transformers.onnx_exporter",
    "onnxruntime.transformers.convert_generation", "onnxruntime.transformers.convert_tf_models_to_pytorch",
    "onnxruntime.transformers.models",
)  # fmt: skip
"""What they are given may be an address."""
_FRAMES = tuple(f"IPython.display.{widget}" for widget in ("IFrame", "YouTubeVideo", "VimeoVideo", "ScribdDocument"))
_PROCESS = (
    "subprocess", "multiprocessing", "pty", "ctypes", "cffi", "signal", "runpy", "code", "resource", "numpy.distutils", "numpy.f2py",
    "PIL.ImageShow", "PIL.ImageGrab", "torch.multiprocessing", "torch.distributed", "torch.utils.cpp_extension",
    "matplotlib.testing", "matplotlib.animation", "matplotlib.texmanager", "matplotlib.dviread", "matplotlib.backends.backend_pgf",
    "matplotlib.font_manager.findSystemFonts", "numpy.compat", "PIL.EpsImagePlugin",
)  # fmt: skip
_CODE = (
    "marshal", "pickle", "dill", "cloudpickle", "joblib", "shelve", "copyreg", "yaml.unsafe_load", "yaml.unsafe_load_all", "yaml.Loader",
    "yaml.CLoader", "yaml.UnsafeLoader", "matplotlib.sphinxext", "matplotlib.rcsetup",
    "torch.package", "codecs.register", "codecs.register_error",
)  # fmt: skip
_MODULES = {
    **dict.fromkeys(_NETWORK, "the network"),
    **dict.fromkeys(_PROCESS, "other processes or native code"),
    **dict.fromkeys(_CODE, "code that is stored as data"),
    **dict.fromkeys(
        ("inspect.stack", "inspect.trace", "threading.settrace", "threading.setprofile"), "the insides of Python"
    ),
    **dict.fromkeys(("scipy.LowLevelCallable", "scipy.special.cython_special"), "native code"),
    **dict.fromkeys(("getpass", "pwd", "keyring", "netrc"), "accounts and passwords"),
    "IPython.display.Javascript": "the browser of who runs it",
    **dict.fromkeys(("logging.handlers", *_READERS, *_FRAMES), "the network"),
    **dict.fromkeys(
        ("concurrent.futures.process", "concurrent.futures.ProcessPoolExecutor", "concurrent.interpreters"),
        "other processes",
    ),
    **dict.fromkeys(
        ("importlib.machinery", "importlib.util", "logging.config", "unittest.mock"), "code from elsewhere"
    ),
    **dict.fromkeys(
        ("unittest.main", "unittest.TestProgram", "PIL.ImageMath.eval", "PIL.ImageMath.unsafe_eval"),
        "code that is named while it runs",
    ),
}


def module_meaning(name: str) -> tuple[str, str]:
    """The module of which something is told, and what."""
    parts = name.split(".")
    for prefix in (".".join(parts[: end + 1]) for end in range(len(parts))):
        if prefix in _MODULES:
            return prefix, _MODULES[prefix]
    more = parts[0] in sys.stdlib_module_names and parts[0] not in HARMLESS
    return parts[0], "more than files and numbers" if more else ""


def has_more(path: str) -> bool:
    """Whether a part of a module does more than compute, though the module itself is harmless."""
    return any(module.startswith(f"{path}.") for module in _MODULES)
