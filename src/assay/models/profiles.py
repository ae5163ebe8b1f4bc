"""Derived tolerances on disk: a header in JSON, the tensors in safetensors; the header last, so that it vouches for them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.models.tensors import TensorFile, write_tensors
from assay.numerics.tolerance.profile import VERSION, Header, Profile, Samples

HEADER = "profile.json"
_PARTS = ("oracle", "deviation", "margins")
_KEY = re.compile(r"(?P<sample>[0-9]{5})/(?P<name>.*)", re.DOTALL)


def write_profile(folder: Path, profile: Profile) -> None:
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
    staged = folder / f".{HEADER}.{os.getpid()}"
    staged.write_bytes(msgspec.json.format(msgspec.json.encode(profile.header, order="sorted"), indent=1) + b"\n")
    staged.replace(folder / HEADER)


def read_header(folder: Path) -> Header | None:
    """None where there is no profile, or one of another version."""
    try:
        header = msgspec.json.decode((folder / HEADER).read_bytes(), type=Header)
    except (OSError, msgspec.DecodeError):
        return None
    return header if header.version == VERSION else None


def read_profile(folder: Path) -> Profile | None:
    """The whole of it; None as for the header."""
    header = read_header(folder)
    if header is None:
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
    return Profile(header, **parts)


def _staged(folder: Path, name: str, tensors: Mapping[str, np.ndarray[Any, Any]]) -> None:
    staged = folder / f".{name}.{os.getpid()}"
    write_tensors(staged, tensors)
    staged.replace(folder / name)
