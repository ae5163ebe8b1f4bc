"""The blob folder against the conformance check of its port, and what only it promises."""

from __future__ import annotations

import os
import stat
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from assay.errors import BlobCorrupt, BlobMissing, StoreError
from assay.models.blobs import FolderBlobs
from assay.testing.store_checks import check_blobs


def test_conforms(tmp_path: Path) -> None:
    check_blobs(partial(FolderBlobs, tmp_path / "new" / "blobs"))


def test_a_blob_lies_under_its_sha256_and_is_read_only(tmp_path: Path) -> None:
    digest = FolderBlobs(tmp_path).put(b"some bytes")
    assert digest == sha256(b"some bytes").hexdigest()
    path = tmp_path / digest[:2] / digest[2:4] / digest
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_other_bytes_than_promised_are_told_and_put_right(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    digest = blobs.put(b"some bytes")
    path = tmp_path / digest[:2] / digest[2:4] / digest
    for damage in (b"some bytez", b"some", b""):
        os.chmod(path, 0o644)
        path.write_bytes(damage)
        with pytest.raises(BlobCorrupt) as caught:
            blobs.get(digest)
        assert str(caught.value) == (
            f"blob {digest} in {tmp_path} holds other bytes than its name promises: delete {path} and run the job again"
        )
        assert blobs.put(b"some bytes") == digest
        assert blobs.get(digest) == b"some bytes"


def test_missing_is_told_and_names_stay_in_the_folder(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path / "blobs")
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(BlobMissing, match=f"blob {'0' * 64} is not in .*: run the job again"):
        blobs.get("0" * 64)
    with pytest.raises(BlobMissing, match=r'"\.\./secret" is no sha256'):
        blobs.get("../secret")
    assert not (tmp_path / "blobs").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file")
    with pytest.raises(StoreError) as caught:
        FolderBlobs(tmp_path / "blobs").put(b"12345")
    assert str(caught.value).startswith(
        f"a blob of 5 bytes cannot be written below {tmp_path / 'blobs'} (Not a directory)"
    )


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(handle: int) -> None:
        raise OSError(28, "No space left on device")

    blobs = FolderBlobs(tmp_path)
    blobs.put(b"before")
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(StoreError, match="No space left on device"):
        blobs.put(b"after")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [sha256(b"before").hexdigest()]
