"""Calls that run code because of what they are given: texts, or data that is unpickled."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from assay_zoo.artifacts.code.code_file import CodeFile, given_to, last_name, text_of, word_of
from assay_zoo.artifacts.code.reached import Unread

PICKLED = {
    "numpy.load": 2, "numpy.lib.npyio.load": 2, "numpy.lib.format.read_array": 1, "numpy.lib.npyio.NpzFile": 2,
    "numpy.lib._npyio_impl.NpzFile": 2,
}  # fmt: skip
"""These unpickle where this argument says so."""
TIMED = ("timeit.timeit", "timeit.repeat", "timeit.Timer", "cProfile.run", "torch.utils.benchmark.Timer")
_HOW = ("verbosity", "exit", "failfast", "buffer")
"""Arguments of `unittest.main` that say how it runs."""
_BACKENDS = ("matplotlib.use", "matplotlib.pyplot.switch_backend")


def code_by_arguments(node: ast.Call, path: str, file: CodeFile) -> Iterator[str]:
    """`path` is what is called, as far as it is known."""
    name = last_name(node.func)
    at = PICKLED.get(path, 99)
    pickled = [word_of(node, "allow_pickle"), *node.args[at : at + 1]]
    for expr in filter(None, pickled):
        if not isinstance(expr, ast.Constant):
            yield Unread("code that is stored as data (allow_pickle)")
        elif expr.value:
            yield "code that is stored as data (allow_pickle)"
    spread = any(isinstance(arg, ast.Starred) for arg in node.args) or word_of(node, None) is not None  # type: ignore[arg-type]
    if spread and path in PICKLED:
        yield Unread("code that is stored as data (allow_pickle may be among the arguments)")
    if name == "load" and path.partition(".")[0] == "torch":
        yield Unread(f"code that is stored as data ({path}: hand in arrays as .npz, and read them with numpy.load)")
    if path in TIMED:
        for timed in (*node.args[:2], word_of(node, "stmt"), word_of(node, "setup")):
            if isinstance(timed, ast.Constant) and isinstance(timed.value, str):
                yield f"code that is made while it runs ({name})"
            elif (
                timed is not None
                and not isinstance(timed, ast.Lambda | ast.Constant)
                and last_name(timed) not in file.own
            ):
                yield Unread(f"code that is made while it runs ({name})")
    fetched = [word.value for word in node.keywords if word.arg in ("download", "pretrained")]
    if path == "pandas.eval" or any(getattr(value, "value", True) is not False for value in fetched):
        yield Unread(f"the network, or code in a text ({name})")
    if (
        name in ("eval", "query")
        and isinstance(node.func, ast.Attribute)
        and any("@" in text_of(arg) for arg in node.args)
    ):
        yield Unread(f"code in a text ({name})")
    yield from _by_words(node, path)
    if path in _BACKENDS:
        for expr in given_to(node):
            if not isinstance(expr, ast.Constant):
                yield Unread(
                    "a backend of matplotlib, which may be a module, whose name is made while it runs: write it"
                )
            elif "webagg" in text_of(expr).lower():
                yield "the network (a backend of matplotlib that serves pages)"
    if path == "unittest.main" and not (node.args == [] and all(word.arg in _HOW for word in node.keywords)):
        yield Unread("code that is named while it runs (unittest.main of other tests)")
    if path in ("inspect.signature", "inspect.get_annotations") and node.keywords:
        yield Unread("code that is made while it runs (eval_str)")


def _by_words(node: ast.Call, path: str) -> Iterator[str]:
    """What fetches, loads or names something by an argument of its own name."""
    name = last_name(node.func)
    words = {word.arg: word.value for word in node.keywords}
    if (
        "weights" in words
        and path.partition(".")[0] == "torchvision"
        and getattr(words["weights"], "value", "") is not None
    ):
        yield Unread(f"the network (weights that {name} fetches: say weights=None)")
    if name in ("parse_args", "parse_known_args") and ("namespace" in words or len(node.args) > 1):
        yield Unread("what a value does for all that use it (namespace of a parser)")
    if (
        name == "Formatter"
        and "style" in words
        and not isinstance(node.args[0] if node.args else words.get("fmt"), ast.Constant)
    ):
        yield Unread("what is named while it runs (a Formatter whose text is not written)")
    if name in ("set_providers", "add_provider", "add_provider_for_devices") and len(node.args) + len(words) > 1:
        yield Unread(f"native code (options of a provider in {name})")
    if name == "InferenceSession":
        options = [
            part
            for arg in given_to(node)
            for each in ast.walk(arg)
            if isinstance(each, ast.Tuple)
            for part in each.elts[1:]
        ]
        if any(isinstance(option, ast.Name | ast.Attribute | ast.Call) for option in options):
            yield Unread("native code (options of a provider that are not written there)")
    if path == "torch.compile":
        yield Unread("other processes (torch.compile starts a compiler)")
    if name == "set_printoptions" and "formatter" in words:
        yield Unread("what a package does (numbers are printed by a function)")
