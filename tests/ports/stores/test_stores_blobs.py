"""Stores of blobs: a folder, and a real S3 server."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from assay.stores.folder_blobs import FolderBlobs
from assay.stores.object_blobs import ObjectBlobs
from assay.testing import check_blobs


def test_a_folder_keeps_its_promises(tmp_path: Path) -> None:
    check_blobs(partial(FolderBlobs, str(tmp_path / "store")))


def test_an_s3_server_keeps_them(bucket: str) -> None:
    check_blobs(partial(ObjectBlobs, bucket))
