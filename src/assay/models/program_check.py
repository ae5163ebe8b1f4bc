"""What must hold before torch.export.load is let at a `.pt2` file: the file may not bring code of its own.

The loader (torch 2.13) unpickles tensors and example inputs without restriction where a flag in the file says so or a
safe read fails, loads shared libraries of ahead-of-time packages, resolves the target of a node anywhere below the
module `torch` (`torch.os` included), and gives texts to sympy.sympify, which evaluates them.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import InvalidModel

_TARGETS = re.compile(r"(torch\.ops\.\w+\.\w+(\.\w+)?|torch\.sym_\w+|_operator\.\w+|math\.\w+)")
_FORBIDDEN = {"_operator.attrgetter", "_operator.methodcaller", "_operator.itemgetter", "_operator.call"}
_WORDS = re.compile(r"[A-Za-z_]\w*")
_CHARACTERS = re.compile(r"[\w\s'(),=.+*/<>-]*")
_LARGEST_JSON = 512 * 2**20
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


def check_program(path: Path) -> None:
    """Raises InvalidModel for a file that is no archive of torch.export, or one that would have to be trusted."""
    if not zipfile.is_zipfile(path):
        raise InvalidModel(f"{path.name} is no exported program: it is not an archive; save it with torch.export.save")
    try:
        with zipfile.ZipFile(path) as archive:
            _check(path, archive)
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError, NotImplementedError) as error:
        raise InvalidModel(f"{path.name} is a damaged archive ({error}); export the model again") from error


def _check(path: Path, archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    inner = {name: name.partition("/")[2] for name in names}
    if any(name.endswith("/data.pkl") or name == "data.pkl" for name in names):
        raise InvalidModel(
            f"{path.name} is a pickle of torch.save, which runs code when it is read; save an exported program with "
            "torch.export.save"
        )
    graphs = [name for name, rest in inner.items() if re.fullmatch(r"models/[^/]+\.json", rest)]
    if len(graphs) != 1:
        raise InvalidModel(
            f"{path.name} holds {len(graphs)} graphs of torch.export, and one is needed; "
            "save it with torch.export.save of torch 2.8 or newer"
        )
    for name, rest in inner.items():
        if rest.startswith("data/aotinductor/"):
            raise InvalidModel(f"{path.name} holds compiled code ({rest}); give the exported program itself")
        if re.fullmatch(r"data/(weights|constants)/[^/]+\.pt", rest):
            raise InvalidModel(f"{path.name} keeps {rest} as a pickle; save it again with torch 2.8 or newer")
        if re.fullmatch(r"data/(weights|constants)/[^/]+_config\.json", rest):
            _check_payload(path, _json(path, archive, name))
        if rest.startswith("data/sample_inputs/"):
            _check_samples(path, archive.read(name))
    _check_graph(path, _json(path, archive, graphs[0]))


def _json(path: Path, archive: zipfile.ZipFile, name: str) -> Any:
    if archive.getinfo(name).file_size > _LARGEST_JSON:
        raise InvalidModel(f"{path.name}: {name} is larger than {_LARGEST_JSON >> 20} MiB, which no graph is")
    return json.loads(archive.read(name))


def _check_payload(path: Path, config: Any) -> None:
    for name, entry in config["config"].items() if isinstance(config, dict) else ():
        file = str(entry.get("path_name", ""))
        if entry.get("use_pickle") or not file.startswith(("weight_", "tensor_")):
            raise InvalidModel(
                f"{path.name} keeps '{name}' as a pickle, which runs code when it is read; keep plain tensors"
            )


def _check_samples(path: Path, data: bytes) -> None:
    """torch.export.load falls back to an unrestricted pickle where this read fails."""
    import torch

    if not data:
        return
    try:
        torch.load(io.BytesIO(data), weights_only=True)
    except Exception as error:
        raise InvalidModel(
            f"{path.name} keeps example inputs that are more than tensors, and reading them may run code; "
            "set example_inputs to None before saving"
        ) from error


def _check_graph(path: Path, graph: Any) -> None:
    for key, value in _texts(graph):
        if key == "target" and value and not _target_is_plain(value):
            raise InvalidModel(f"{path.name} calls '{value[:80]}', which is no operator of torch")
        if key in ("expr_str", "as_expr") and not _expression_is_plain(value):
            raise InvalidModel(f"{path.name} holds an expression that is no size: '{value[:80]}'")


def _target_is_plain(target: str) -> bool:
    """Operators, arithmetic on sizes; targets without a dot are names of inputs and weights."""
    if "." not in target or not target.startswith(("torch", "_operator", "math", "#")):
        return not target.startswith("#")
    return (
        _TARGETS.fullmatch(target) is not None
        and target not in _FORBIDDEN
        and "__" not in target.replace("__init__", "")
    )


def _expression_is_plain(text: str) -> bool:
    if _CHARACTERS.fullmatch(text) is None or "__" in text:
        return False
    bare = re.sub(r"'[\w.+-]+'", "", text)
    return all(word in _SYMPY or re.fullmatch(r"[suzf]+\d+", word) for word in _WORDS.findall(bare)) and "'" not in bare


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, text) of every text in a JSON value, without recursion into the depth of Python's stack."""
    stack = [(key, value)]
    while stack:
        name, one = stack.pop()
        if isinstance(one, dict):
            stack.extend(one.items())
        elif isinstance(one, list):
            stack.extend((name, inner) for inner in one)
        elif isinstance(one, str):
            yield name, one
