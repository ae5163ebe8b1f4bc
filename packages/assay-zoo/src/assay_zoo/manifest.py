"""`manifest.json`: every accepted model with all its versions, who promoted them, when and why. Machine-written."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from assay.errors import UsageError
from assay_zoo.zoo_files import MANIFEST, MODELS


class Port(msgspec.Struct, frozen=True, kw_only=True):
    """As in the metadata: a dimension is a size, or a name where it is free."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


class File(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the closure of a model: the ONNX file, or external data of it."""

    path: str
    sha256: str
    size: int


class Accuracy(msgspec.Struct, frozen=True, kw_only=True):
    """`measured` is what the robot saw, None where the policy did not ask."""

    metric: str
    claimed: float
    measured: float | None = None


class Withdrawal(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    by: str
    reason: str


SKETCH_FORM = 2


class Sketch(msgspec.Struct, frozen=True, kw_only=True):
    """The number of weights, and lines of them by which they are known again in another model (`weight_sketch`). `form` counts up when
    they are taken otherwise."""

    elements: int
    lines: bytes
    form: int = 1


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """`digest` is that of the whole submission, `closure` of model and external data (the same as `assay` records for a
    model), `weights` that of its constants, `largest` some of these, `sketch` lines of them, `based_on` the models that its author says
    they are from. `performance` is by machine, then by metric with its unit in the name. `author` submitted it, `by` promoted it.
    `earlier_withdrawals` are those after which it was served again."""

    version: str
    digest: str
    closure: str
    files: tuple[File, ...]
    opset: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    tags: tuple[str, ...]
    title: str
    license: str
    scenario: str
    accuracy: Accuracy
    performance: dict[str, dict[str, float]]
    promoted_at: str
    by: str
    reason: str
    decision: str
    author: str = ""
    weights: str = ""
    largest: tuple[float, ...] = ()
    sketch: Sketch | None = None
    based_on: tuple[str, ...] = ()
    withdrawn: Withdrawal | None = None
    earlier_withdrawals: tuple[Withdrawal, ...] = ()


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One model. `current` is "" where every version is withdrawn; versions stand in the order of promotion."""

    current: str
    versions: tuple[Version, ...] = ()

    def version(self, name: str) -> Version | None:
        """The version of that name."""
        return next((version for version in self.versions if version.version == name), None)


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`schema` counts up when the meaning of a field changes."""

    schema: int = 1
    zoo: str = ""
    models: dict[str, Entry] = {}


def read_manifest(root: Path) -> Manifest:
    """The zoo's manifest, an empty one where nothing was ever promoted. Raises UsageError where it cannot be read."""
    path = root / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError:
        return Manifest()
    except (msgspec.DecodeError, OSError) as error:
        raise UsageError(f"{path} cannot be read ({error}); restore it from the history of the repository") from None
    if manifest.schema > Manifest().schema:
        raise UsageError(f"{path} was written by a newer assay (schema {manifest.schema}); upgrade assay")
    return manifest


def write_manifest(root: Path, manifest: Manifest) -> None:
    """The whole file or none of it, also after a power cut. Raises OSError."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    replace_file(root / MANIFEST, text + b"\n")


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in the place of a file, in one step that a kill does not cut in two. Raises OSError."""
    fresh = fresh_name(path)
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def fresh_name(path: Path) -> Path:
    """Where a file is written before it takes the place of another; what a kill left there means nothing."""
    return path.with_name(f".{path.name}.new")


def current_folder(root: Path, name: str) -> Path | None:
    """Where the accepted version of a model lies, None for a model that the zoo does not have."""
    entry = read_manifest(root).models.get(name)
    folder = root / MODELS / name / entry.current if entry and entry.current else None
    return folder if folder is not None and folder.is_dir() else None
