"""Whether a file is what its name says: a model that parses, a tensor that can be read, text that is text."""

from __future__ import annotations

import ast
import json
import posixpath
import re
import sys
import tomllib
import warnings
from collections.abc import Callable
from typing import Any

from assay_zoo.files.arrays import array_trouble
from assay_zoo.files.finding import Finding, Item
from assay_zoo.files.picture_end import MOST_BEHIND, bytes_behind
from assay_zoo.text_encoding import as_table

_MAGIC = {
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"),
    ".bmp": (b"BM",),
    ".webp": (b"RIFF",),
    ".wav": (b"RIFF",),
    ".tif": (b"II*\x00", b"MM\x00*"),
    ".tiff": (b"II*\x00", b"MM\x00*"),
    ".npy": (b"\x93NUMPY",),
    ".npz": (b"PK\x03\x04", b"PK\x05\x06"),
    ".zip": (b"PK\x03\x04", b"PK\x05\x06"),
    ".gz": (b"\x1f\x8b",),
    ".pdf": (b"%PDF-",),
}
_ENDING = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".wav")
_TEXT = (".md", ".txt", ".csv", ".tsv", ".rst", ".cfg", ".ini", ".html", ".svg", ".xml", ".jsonl", ".sh", ".cff")


TABLES = (".csv", ".tsv", ".txt")
"""Tables and lists, which programs of an office save in other encodings, too."""


def claim_problems(item: Item, head: bytes) -> list[Finding]:
    """Why a file is not what its name claims; a name that claims nothing is believed."""
    if item.model or item.suffix == ".onnx":
        return _model(item)
    if (magics := _MAGIC.get(item.suffix)) and not head.startswith(magics):
        return [_broken(f"is no {item.suffix[1:]} file: its first bytes are not those of one")]
    if problem := _behind(item):
        return [problem]
    if reader := _READERS.get(item.suffix):
        return reader(item)
    return []


def _behind(item: Item) -> Finding | None:
    """Of a picture or a sound."""
    if item.suffix not in _ENDING:
        return None
    with item.file.open("rb") as file:
        count = bytes_behind(file, item.file.stat().st_size)
    if count is None:
        return _broken("is a picture that is broken or cut off: save it again")
    if count > MOST_BEHIND:
        return _broken(f"has {count} bytes behind its end, which no program shows: save it again")
    return None


def _model(item: Item) -> list[Finding]:
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import ModelProto

    from assay.core.model_finding_text import sentence
    from assay.models.external_data import external_problems

    data = item.file.read_bytes()
    try:
        model = ModelProto.FromString(data)
    except DecodeError:
        text = f"is no ONNX model that can be read ({len(data)} bytes): it is cut off, another format, or nested too deeply"
        return [_broken(f"{text}; export it again")]
    if not model.HasField("graph"):
        return [_broken(f"is no ONNX model: it has no graph ({len(data)} bytes); export it again")]
    return [
        Finding(
            check="external_data", sentence=f"cannot be opened whole: {sentence(problem)}",
            needs=posixpath.normpath(posixpath.join(posixpath.dirname(item.path), location)) if location else "",
        )
        for location, problem in external_problems(model, item.file).items()
    ]  # fmt: skip


def _tensor(item: Item) -> list[Finding]:
    """Whatever kind of value the file holds, all of it must be known and its data inside."""
    import onnx
    from google.protobuf.message import DecodeError
    from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped]
    from onnx import numpy_helper

    data = item.file.read_bytes()
    kinds: tuple[tuple[Any, Callable[[Any], bool], Callable[[Any], Any]], ...] = (
        (onnx.TensorProto, lambda proto: proto.data_type > 0, numpy_helper.to_array),
        (onnx.SequenceProto, lambda proto: proto.elem_type > 0, numpy_helper.to_list),
        (onnx.MapProto, lambda proto: proto.key_type > 0, numpy_helper.to_dict),
        (onnx.OptionalProto, lambda proto: proto.elem_type > 0, numpy_helper.to_optional),
        (
            onnx.SparseTensorProto,
            lambda proto: proto.HasField("values"),
            lambda proto: numpy_helper.to_array(proto.values),
        ),
    )
    for kind, whole, read in kinds:
        try:
            value = kind.FromString(data)
        except DecodeError:
            continue
        if not whole(value) or len(UnknownFieldSet(value)):
            continue
        if kind is onnx.TensorProto and value.data_location == onnx.TensorProto.EXTERNAL:
            return [Finding(check="external_data", sentence="keeps its data in another file: write the data into it")]
        try:
            read(value)
        except Exception as error:  # noqa: BLE001 - onnx raises whatever numpy does with impossible data
            return [_broken(f"is a {kind.__name__} whose data do not fit its type and shape ({_short(error)})")]
        return []
    return [_broken(f"is no tensor, sequence, map or optional of ONNX that can be read ({len(data)} bytes)")]


def _text_of(item: Item) -> str:
    """The text. Raises ValueError with what the finding says."""
    data = item.file.read_bytes()
    try:
        text = as_table(data) if item.suffix in TABLES else data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _At(data.count(b"\n", 0, error.start) + 1, f"is no UTF-8 text: byte {error.start} is none") from None
    if "\0" in text:
        raise _At(text[: text.index("\0")].count("\n") + 1, "is no text: it has a zero byte")
    return text


class _At(ValueError):
    """What is wrong, and on which line."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


def _reader(parse: Callable[[str], Any], name: str) -> Callable[[Item], list[Finding]]:
    """Text that `parse` takes."""

    def read(item: Item) -> list[Finding]:
        try:
            parse(_text_of(item))
        except _At as error:
            return [_broken(str(error), error.line)]
        except RecursionError:
            return [_broken(f"is nested too deeply to be read as {name}")]
        except (SyntaxError, ValueError, KeyError, TypeError, AttributeError) as error:
            return [_broken(f"is no {name} that can be read: {_short(error)}", _line(error))]
        return []

    return read


def _notebook(text: str) -> None:
    import nbformat

    content = json.loads(text)
    cells = content.get("cells", content.get("worksheets")) if isinstance(content, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise ValueError("a notebook is a JSON object with a list of cells, each of them an object")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = nbformat.reads(text, as_version=4)
        try:
            nbformat.validate(content)
        except nbformat.ValidationError as error:
            raise ValueError(_short(error)) from None


def _yaml(text: str) -> None:
    import yaml  # type: ignore[import-untyped]

    try:
        yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise _At(mark.line + 1 if mark else 0, f"is no YAML that can be read: {_short(error)}") from None


def _safetensors(item: Item) -> list[Finding]:
    """Its header, and tensors that lie end to end behind it: bytes of none would be published unread."""
    size = item.file.stat().st_size
    with item.file.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(min(length, 64 << 20))
    try:
        tensors = json.loads(header)
        ranges = sorted(tensor["data_offsets"] for name, tensor in tensors.items() if name != "__metadata__")
        begins, ends = [0, *(end for _, end in ranges)], [*(begin for begin, _ in ranges), size - 8 - length]
        fits = length == len(header) and begins == ends and begins == sorted(begins)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        fits = False
    return [] if fits else [_broken("is no safetensors file: its header does not fit its contents")]


def _array(item: Item) -> list[Finding]:
    with item.file.open("rb") as file:
        trouble = array_trouble(file, item.file.stat().st_size)
    return [_broken(f"{trouble}: make it again")] if trouble else []


def _line(error: BaseException) -> int:
    if isinstance(error, SyntaxError | json.JSONDecodeError):
        return error.lineno or 0
    match = re.search(r"at line (\d+)", str(error))
    return int(match[1]) if match else 0


def _short(error: BaseException) -> str:
    if "set_int_max_str_digits" in str(error):
        return f"it holds a number of more than {sys.get_int_max_str_digits()} digits"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:200]


def _broken(sentence: str, line: int = 0) -> Finding:
    return Finding(check="readable", sentence=sentence, line=line)


_READERS: dict[str, Callable[[Item], list[Finding]]] = {
    ".pb": _tensor,
    ".ipynb": _reader(_notebook, "notebook"),
    ".json": _reader(json.loads, "JSON"),
    ".toml": _reader(tomllib.loads, "TOML"),
    ".yaml": _reader(_yaml, "YAML"),
    ".yml": _reader(_yaml, "YAML"),
    ".py": _reader(ast.parse, "Python source"),
    ".safetensors": _safetensors,
    ".npy": _array,
    **dict.fromkeys(_TEXT, _reader(str, "text")),
}
