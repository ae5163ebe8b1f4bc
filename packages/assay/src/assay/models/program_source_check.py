"""The texts of a serialized program: which of them torch.export (2.13) turns into code, and how they are written.

Names of inputs and arguments stand in the source of `forward` as they are, targets are looked up below `torch`, expressions
are evaluated by sympy, guards of sizes are the source of a function, and the trees of inputs name modules to import.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import InvalidModel

_TARGETS = re.compile(r"(torch\.ops\.\w+\.\w+(\.\w+)?|torch\.sym_\w+|_operator\.\w+|math\.\w+)")
_BITWISE = re.compile(r"torch\.ops\.aten\.__(and|or|xor|lshift|rshift)__\.(Tensor|Scalar)")
_FORBIDDEN = re.compile(r"_operator\.(attrgetter|methodcaller|itemgetter|call)|torch\.ops\..*file.*", re.IGNORECASE)
"""What calls anything, and what reads and writes files."""
_WORDS = re.compile(r"[A-Za-z_]\w*")
_CHARACTERS = re.compile(r"[\w '(),=.+*/<>-]*")
_SYMPY = frozenset(
    re.findall(
        r"\w+",
        """
        precision Symbol Integer Rational Float Add Mul Pow Mod Max Min Abs Piecewise ExprCondPair And Or Not Xor true
        false True False Eq Ne Lt Le Gt Ge Equality Unequality StrictLessThan LessThan StrictGreaterThan
        GreaterThan floor ceiling FloorDiv ModularIndexing Where PythonMod CleanDiv CeilToInt FloorToInt
        CeilDiv LShift RShift PowByNatural FloatPow FloatTrueDiv IntTrueDiv
        IsNonOverlappingAndDenseIndicator TruncToFloat TruncToInt RoundToInt RoundDecimal ToFloat Identity
        BitwiseFn_bitwise_and BitwiseFn_bitwise_or positive nonnegative integer real negative finite nonzero
        zero oo int_oo IntInfinity NegativeIntInfinity
        """,
    )
)
_SIZE = re.compile(r"L(?:\[(?:'[\w. -]*'|\d+)\])+(?:\.(?:size|stride|storage_offset)\(\)(?:\[\d+\])?)?")
_GUARD = re.compile(r"[\w (),.+*/%<>=!-]*")
_GUARDING = frozenset(
    ("and", "or", "not", "True", "False", "max", "min", "Max", "Min", "Mod", "FloorDiv", "PythonMod", "abs", "round")
)
_ROUNDING = re.compile(
    r"\bmath\.(?:ceil|floor|trunc|sqrt|log2|inf|nan|a?(?:cos|sin|tan)|(?:cos|sin|tan)h)\b|\btorch\.(?:sym_float|_sym_sqrt)\b"
)
"""As torch prints a size that was multiplied by a scale (`torch.utils._sympy.printers.PythonPrinter`): Resize makes such."""
_FREE = frozenset(("metadata", "as_string", "as_strings", "torch_version"))
"""What is kept with the graph for people, and constants, which stand in source as Python writes a text."""
_PATHS = frozenset(("fqn", "parameter_name", "buffer_name", "tensor_constant_name", "target", "key"))
_IMPORTING = frozenset(("__enum__", "default_factory_module"))
"""Keys of a tree behind which a module is named."""
_PATH = re.compile(r"[^\"'\\\x00-\x1f]*")
_NAME = re.compile(r"[\w.-]*")
_KEY = re.compile(r"[\w. -]*")


def check_sources(name: str, graph: Any) -> None:
    """Raises InvalidModel for the first text of the file `name` that may be more than it seems."""
    for key, value in _texts(graph):
        if key in ("target", "as_operator") and value and not _target_is_plain(value):
            raise InvalidModel(noted(ModelCode.PROGRAM_CALLS, file=name, target=value[:80]))
        if not _is_plain(key, value):
            raise InvalidModel(noted(ModelCode.PROGRAM_TEXT, file=name, key=key, value=value[:80]))


def _is_plain(key: str, value: str) -> bool:
    if key in ("expr_str", "as_expr"):
        return _expression_is_plain(value)
    if key == "guards_code":
        return _guard_is_plain(value)
    if key in ("in_spec", "out_spec"):
        return _tree_is_plain(value, _KEY if key == "in_spec" else _PATH)
    return (_PATH if key in _PATHS else _NAME).fullmatch(value) is not None


def _target_is_plain(target: str) -> bool:
    """Operators, arithmetic on sizes; targets without a dot are names of inputs and weights."""
    if "." not in target or not target.startswith(("torch", "_operator", "math", "#")):
        return not target.startswith("#")
    return _BITWISE.fullmatch(target) is not None or (
        _TARGETS.fullmatch(target) is not None
        and _FORBIDDEN.fullmatch(target) is None
        and "__" not in target.replace("__init__", "")
    )


def _expression_is_plain(text: str) -> bool:
    if _CHARACTERS.fullmatch(text) is None or "__" in text:
        return False
    bare = re.sub(r"'[\w.+-]+'", "", text)
    return all(word in _SYMPY or re.fullmatch(r"[suzf]+\d+", word) for word in _WORDS.findall(bare)) and "'" not in bare


def _guard_is_plain(text: str) -> bool:
    """Sizes of inputs, numbers, arithmetic, comparisons."""
    bare = _ROUNDING.sub("", _SIZE.sub("0", text))
    return _GUARD.fullmatch(bare) is not None and _GUARDING.issuperset(_WORDS.findall(bare))


def _tree_is_plain(text: str, allowed: re.Pattern[str]) -> bool:
    """The types of a tree must be known to torch; what else is written in it are keys, in JSON inside of JSON."""
    try:
        tree = json.loads(text) if text else None
        for key, value in _texts(tree):
            inner = json.loads(value) if key == "context" else value
            if any(
                allowed.fullmatch(inner_text) is None or inner_text in _IMPORTING for _, inner_text in _texts(inner)
            ):
                return False
    except (ValueError, RecursionError):
        return False
    return True


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, text) of every text in a JSON value that is not free, the names of objects' own keys too, without recursion into
    the depth of Python's stack."""
    stack = [(key, value)]
    while stack:
        name, nested = stack.pop()
        if name in _FREE:
            continue
        if isinstance(nested, dict):
            stack.extend(nested.items())
            stack.extend(("key", own) for own in nested)
        elif isinstance(nested, list):
            stack.extend((name, inner) for inner in nested)
        elif isinstance(nested, str):
            yield name, nested
