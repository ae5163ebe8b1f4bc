"""What a new zoo and a new submission begin with: files of the package, copied, never over what is there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import NotWritable, UsageError
from assay_zoo.metadata import Metadata
from assay_zoo.policy import Scenario, ZooPolicy
from assay_zoo.zoo_files import METADATA, SCENARIOS, SUBMISSIONS

if TYPE_CHECKING:
    from pydantic import BaseModel

TEMPLATE = "templates/submission"
SCHEMAS: dict[str, type[BaseModel]] = {"metadata": Metadata, "zoo": ZooPolicy, "scenario": Scenario}
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Made:
    """Paths as the user would type them."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]


def make_zoo(folder: Path) -> Made:
    """A whole zoo in `folder`, which may hold files already: those are kept. Raises NotWritable."""
    content = dict(_zoo_files(folder.absolute().name))
    written: list[Path] = []
    kept: list[Path] = []
    for path, data in sorted(content.items()):
        (written if _write(folder / path, data) else kept).append(folder / path)
    return Made(tuple(written), tuple(kept))


def new_submission(root: Path, name: str) -> Path:
    """submissions/`name` from the zoo's template, the name filled in. Raises UsageError and NotWritable."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name of a model: small letters, digits, dots, dashes; a letter or digit first"
        )
    source, folder = root / TEMPLATE, root / SUBMISSIONS / name
    if not source.is_dir():
        raise UsageError(f"{source} is not there; `assay zoo init {root}` writes it")
    if folder.exists():
        raise NotWritable(f"{folder} exists already; take another name, or go on in it")
    for path in sorted(source.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.name == METADATA:
                data = data.replace(b'"the-name"', f'"{name}"'.encode())
            _write(folder / path.relative_to(source), data)
    return folder


def schema_text(model: type[BaseModel]) -> str:
    """The JSON schema of a file that people write."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    return json.dumps(schema, indent=2) + "\n"


def _zoo_files(name: str) -> list[tuple[str, bytes]]:
    data = files("assay_zoo") / "data"
    contents = [(path, content.read_bytes()) for path, content in _below(data / "zoo")]
    contents = [(_plain(path), _named(path, content, name)) for path, content in contents]
    contents += [(f"{SCENARIOS}/{path}", content.read_bytes()) for path, content in _below(data / SCENARIOS)]
    contents += [(f"templates/{name}.schema.json", schema_text(schema).encode()) for name, schema in SCHEMAS.items()]
    return contents


def _plain(path: str) -> str:
    """`dot-` stands for a leading dot, and `.in` keeps tools from taking a template for a part of the package."""
    return re.sub(r"(^|/)dot-", r"\1.", path).removesuffix(".in")


def _named(path: str, data: bytes, name: str) -> bytes:
    return data.replace(b"THE-ZOO", name.encode()) if path in ("zoo.toml", "README.md") else data


def _below(folder: Traversable, above: str = "") -> list[tuple[str, Traversable]]:
    if not folder.is_dir():
        return []
    contents: list[tuple[str, Traversable]] = []
    for path in folder.iterdir():
        if path.is_dir():
            contents += _below(path, f"{above}{path.name}/")
        elif path.is_file():
            contents.append((f"{above}{path.name}", path))
    return contents


def _write(path: Path, data: bytes) -> bool:
    """Whether it was written; what is there stays."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    except OSError as error:
        raise NotWritable(f"{path} cannot be written ({error.strerror}); choose another folder") from None
    return True
