"""Suites must not shrink unseen: how many cases each had is kept in the history, and fewer is a failure."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from assay.errors import FewerCases, StoreError

FILE = "suite-counts.json"


def check_counts(counts: Mapping[str, int], folder: Path, *, accept: bool) -> None:
    """Hold the counts against those recorded in the history's `folder`, then record what grew.

    Raises FewerCases where a suite has fewer than ever before, unless `accept`: then the smaller count is recorded.
    """
    path = folder / FILE
    known = _read(path)
    for name, count in sorted(counts.items()):
        before = known.get(name, 0)
        if count < before and not accept:
            raise FewerCases(
                f"suite '{name}' collects {count} cases, {before} are recorded in {path}: bring the missing back, "
                "or accept the smaller number with --accept-counts"
            )
    after = {**known, **counts}
    if after != known:
        _write(path, after)


def _read(path: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, int])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise StoreError(f"{path} cannot be read ({error}); repair or remove it") from None


def _write(path: Path, counts: Mapping[str, int]) -> None:
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(msgspec.json.format(msgspec.json.encode(dict(sorted(counts.items())))))
        Path(file.name).replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}); make the history writable") from None
