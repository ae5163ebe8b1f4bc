"""Derived tolerances on disk: the tensors in safetensors, and last a header in JSON with a digest of all of it, which vouches for them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.digest import sha256_bytes
from assay.models.files import file_digest
from assay.models.tensors import TensorFile, write_tensors
from assay.numerics.tolerance.derived_tolerance import VERSION, DerivedTolerance, GuardedInputs, Header, Samples
from assay.ports import Tensor

HEADER = "profile.json"
GUARDED = "guarded.safetensors"
_PARTS = ("oracle", "deviation", "margins")
_GUARDED_PARTS = ("inputs", "oracle", "allowed")
_KEY = re.compile(r"(?P<sample>[0-9]{5})/(?P<name>.*)", re.DOTALL)


def coarse_of(folder: str) -> str:
    """Where the coarse tolerance lies, beside the folder of the derived one."""
    return f"{folder}-coarse"


class _Kept(msgspec.Struct, frozen=True):
    """`others` counts the other answers of the flow, each of them a profile in a folder of its own."""

    digest: str
    header: msgspec.Raw
    others: int = 0


def write_tolerance(folder: Path, profile: DerivedTolerance) -> None:
    """Write or replace. Two that write the same profile at once both succeed. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in _PARTS:
        samples: Samples = getattr(profile, part)
        tensors = {
            f"{number:05d}/{name}": np.asarray(array, order="C")
            for number, sample in enumerate(samples)
            for name, array in sample.items()
        }
        _staged(folder, f"{part}.safetensors", tensors)
    _staged(folder, GUARDED, _guarded_tensors(profile.guarded))
    for number, other in enumerate(profile.others):
        write_tolerance(_other(folder, number), other)
    header, count = msgspec.json.encode(profile.header, order="sorted"), len(profile.others)
    kept = _Kept(digest=_digest(folder, header, count), header=msgspec.Raw(header), others=count)
    staged = folder / f".{HEADER}.{os.getpid()}"
    staged.write_bytes(msgspec.json.encode(kept) + b"\n")
    staged.replace(folder / HEADER)


def read_header(folder: Path) -> Header | None:
    """None where there is no profile, one of another version, or one of whose files is not as it was written."""
    return _read(folder)[0]


def _read(folder: Path) -> tuple[Header | None, int]:
    """The header, and how many other answers there are."""
    try:
        kept = msgspec.json.decode((folder / HEADER).read_bytes(), type=_Kept)
        if kept.digest != _digest(folder, bytes(kept.header), kept.others):
            return None, 0
        header = msgspec.json.decode(kept.header, type=Header)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None, 0
    if header.version != VERSION or any(read_header(_other(folder, number)) is None for number in range(kept.others)):
        return None, 0
    return header, kept.others


def read_tolerance(folder: Path) -> DerivedTolerance | None:
    """The whole of it; None as for the header."""
    header, count = _read(folder)
    if header is None:
        return None
    others = [read_tolerance(_other(folder, number)) for number in range(count)]
    if any(other is None for other in others):
        return None
    parts: dict[str, Samples] = {}
    for part in _PARTS:
        samples: Samples = [{} for _ in range(header.samples)]
        if not header.reason:
            with TensorFile(folder / f"{part}.safetensors") as file:
                for key in file.tensors:
                    match = _KEY.fullmatch(key)
                    if match is not None:
                        samples[int(match["sample"])][match["name"]] = file.read(key)
        parts[part] = samples
    known = [other for other in others if other is not None]
    return DerivedTolerance(header, **parts, others=known, guarded=_read_guarded(folder / GUARDED))


def _guarded_tensors(guarded: Sequence[GuardedInputs]) -> dict[str, Tensor]:
    return {
        f"{number:05d}/{part}/{name}": np.asarray(value, None if part != "allowed" else np.float64, order="C")
        for number, each in enumerate(guarded)
        for part in _GUARDED_PARTS
        for name, value in getattr(each, part).items()
    }


def _read_guarded(path: Path) -> tuple[GuardedInputs, ...]:
    read: dict[str, dict[str, dict[str, Tensor]]] = {}
    with TensorFile(path) as file:
        for key in sorted(file.tensors):
            number, part, name = key.split("/", 2)
            read.setdefault(number, {each: {} for each in _GUARDED_PARTS})[part][name] = file.read(key)
    return tuple(
        GuardedInputs(each["inputs"], each["oracle"], {name: float(limit) for name, limit in each["allowed"].items()})
        for each in read.values()
    )


def _other(folder: Path, number: int) -> Path:
    return folder / f"other-{number:02d}"


def _digest(folder: Path, header: bytes, others: int) -> str:
    """Of the header, of all tensors, and of what vouches for the other answers. Raises OSError."""
    files = [*(folder / f"{part}.safetensors" for part in _PARTS), folder / GUARDED]
    parts = [file_digest(path) for path in (*files, *(_other(folder, number) / HEADER for number in range(others)))]
    return sha256_bytes(header + "".join(parts).encode())


def _staged(folder: Path, name: str, tensors: Mapping[str, np.ndarray[Any, Any]]) -> None:
    staged = folder / f".{name}.{os.getpid()}"
    write_tensors(staged, tensors)
    staged.replace(folder / name)
