"""Which addresses of a store are refused before anything is asked."""

from __future__ import annotations

import pytest

from assay.commands.blob_store import open_blobs
from assay.errors import UsageError


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("s3://", '"s3://" says no place: write s3://bucket/prefix'),
        ("s3:///prefix", '"s3:///prefix" says no place: write s3://bucket/prefix'),
        ("gs://bucket", '"gs://bucket" is no store: give a folder, or an address that begins with s3://...'),
    ],
)
def test_an_address_without_a_place_or_a_server_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str, sentence: str
) -> None:
    monkeypatch.setenv("ASSAY_STORE", address)
    with pytest.raises(UsageError) as told:
        open_blobs()
    assert str(told.value) == sentence
