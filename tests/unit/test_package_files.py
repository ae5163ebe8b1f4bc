"""What a package is built of stands below its own folder: an archive of sources takes no link that leads out of it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [ROOT / "packages" / name for name in ("assay", "assay-zoo")]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda folder: folder.name)
def test_the_licence_of_each_package_is_that_of_the_project(package: Path) -> None:
    assert not (package / "LICENSE").is_symlink()
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.heavy
@pytest.mark.parametrize("package", PACKAGES, ids=lambda folder: folder.name)
def test_its_sources_are_packed_whole_and_built_again(package: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "out")]
    subprocess.run([*build, "-t", "sdist"], cwd=package, check=True, capture_output=True)
    (packed,) = (tmp_path / "out").glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        assert not [member.name for member in archive if member.issym() or member.islnk()]
        archive.extractall(tmp_path / "sources", filter="data")
    (sources,) = (tmp_path / "sources").iterdir()
    subprocess.run([*build, "-t", "wheel"], cwd=sources, check=True, capture_output=True)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert any(name.endswith("licenses/LICENSE") for name in names)
    known = {f"assay/expectations/{path.name}" for path in (ROOT / "expectations").glob("*.toml")}
    assert package.name != "assay" or (known and known <= names)
