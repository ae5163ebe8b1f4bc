"""A library that was half removed is not available; one that is a namespace is."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.backends.availability import installed
from assay.judge.words.missing_text import missing_text
from assay.plugins import availability

PACKAGE = ("halfway/__init__.py", "halfway/core/__init__.py")
NAMESPACE = ("halfway/core/__init__.py",)


def _install(site: Path, listed: tuple[str, ...], kept: tuple[str, ...], *, metadata: bool = True) -> None:
    described = site / "halfway-1.2.dist-info"
    described.mkdir()
    (site / "halfway").mkdir()
    if metadata:
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: halfway\nVersion: 1.2\n")
        (described / "RECORD").write_text("".join(f"{name},,\n" for name in listed))
    for name in kept:
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).touch()


@pytest.mark.parametrize(
    ("listed", "kept", "metadata", "words"),
    [
        (PACKAGE, PACKAGE, True, ""),
        (NAMESPACE, NAMESPACE, True, ""),
        ((), NAMESPACE, True, ""),
        (PACKAGE, (), True, "halfway 1.2 is installed but has no module halfway"),
        (PACKAGE, NAMESPACE, True, "halfway 1.2 is installed but has no module halfway"),
        (NAMESPACE, (), True, "halfway 1.2 is installed but has no module halfway"),
        (PACKAGE, (), False, "halfway is not installed"),
    ],
)
def test_what_is_left_of_a_package_is_not_the_package(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listed: tuple[str, ...],
    kept: tuple[str, ...],
    metadata: bool,
    words: str,
) -> None:
    _install(tmp_path, listed, kept, metadata=metadata)
    monkeypatch.syspath_prepend(tmp_path)
    here = installed("halfway", "halfway", "halfway")
    assert here.available is (not words)
    assert missing_text(here).startswith(words)


@pytest.mark.parametrize("backend", ["executorch", "iree"])
def test_namespaces_that_are_installed_are_available(backend: str) -> None:
    assert availability(backend).available
