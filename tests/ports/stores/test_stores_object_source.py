"""A model that lies in a bucket of a real S3 server."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.sources import NamedModels
from assay.core.digest import sha256_bytes
from assay.errors import BadModel
from assay.stores.object_blobs import ObjectBlobs


def test_an_object_is_a_model_and_what_is_wrong_is_one_sentence(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "model").write_bytes(b"a model")
    digest = sha256_bytes(b"a model")
    ObjectBlobs(bucket).put(tmp_path / "model", digest)
    address = f"{bucket}/blobs/{digest[:2]}/{digest}"
    for said in (address, f"{address}#sha256={digest}"):
        assert NamedModels().local(Path(said)).read_bytes() == b"a model"
    for said, sentence in {
        f"{address}#sha256={'0' * 64}": "the digest is wrong",
        f"{bucket}/none.onnx": r"none\.onnx is not there: check the bucket and the key",
        "s3://bucket": "names no object: write s3://bucket/folder",
    }.items():
        with pytest.raises(BadModel, match=sentence):
            NamedModels().local(Path(said))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    with pytest.raises(BadModel, match=r"cannot be fetched: .* refuses the credentials"):
        NamedModels().local(Path(address))
