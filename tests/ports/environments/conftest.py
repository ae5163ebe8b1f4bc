"""A package of our own in a folder of wheels, so that environments are built for real without any index."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest


def write_wheel(folder: Path, name: str, version: str, requires: tuple[str, ...] = ()) -> Path:
    """A pure-Python wheel with one module and one script."""
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {require}\n" for require in requires)
    files = {
        f"{name}.py": f"VERSION = {version!r}\n\n\ndef main():\n    print(VERSION)\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name}-say = {name}:main\n",
    }
    rows = [f"{path},{_digest(text)},{len(text)}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inner, text in files.items():
            wheel.writestr(inner, text)
    return path


def _digest(text: str) -> str:
    raw = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """tiny 1.0 and 2.0, and picky, which wants tiny 1; the package client is told of nothing else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    write_wheel(folder, "tiny", "1.0")
    write_wheel(folder, "tiny", "2.0")
    write_wheel(folder, "picky", "1.0", ("tiny<2",))
    for name in ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder
