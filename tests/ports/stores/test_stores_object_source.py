"""A model that lies in a bucket of a real S3 server."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest

from assay.commands.sources import NamedModels
from assay.core.digest import sha256_bytes
from assay.errors import BadModel
from assay.stores import object_blobs, object_source
from assay.stores.object_blobs import ObjectBlobs
from http_server import Handler, serving


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


SIZE, AT_ONCE, REST_S = 60_000, 2_000, 0.03
LIMIT_S = 0.5


class _Slow(Handler):
    """Any object, at 67 kB a second; `replaced` after so many requests."""

    replaced = 10**9
    requests = 0

    def do_HEAD(self) -> None:
        self._head(200, 0, SIZE)

    def do_GET(self) -> None:
        first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        start, stop = int(first), min(int(last or SIZE) + 1, SIZE)
        type(self).requests += 1
        if self.requests > self.replaced and self.headers.get("If-Match") == '"one"':
            self.answer(412)
            return
        self._head(206, start, stop)
        for at in range(start, stop, AT_ONCE):
            self.wfile.write(b"x" * (min(at + AT_ONCE, stop) - at))
            time.sleep(REST_S)

    def _head(self, status: int, start: int, stop: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(stop - start))
        self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{SIZE}")
        self.send_header("Last-Modified", "Thu, 26 Nov 2026 10:00:00 GMT")
        self.send_header("ETag", '"one"')
        self.end_headers()


@pytest.mark.parametrize("replaced", [False, True])
def test_a_slow_line_may_take_longer_than_one_request_has(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, replaced: bool
) -> None:
    """At 60 s for all of it, and a model of some GB, most lines are slow."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(object_blobs, "_SECONDS", timedelta(seconds=LIMIT_S))
    monkeypatch.setattr(object_blobs, "_RETRIES", 0)
    monkeypatch.setattr(object_source, "PART_BYTES", 5 * AT_ONCE)
    kind = type("Once", (_Slow,), {"replaced": 2} if replaced else {})
    with serving(kind) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        if replaced:
            with pytest.raises(BadModel, match="cannot be fetched"):
                NamedModels().local(Path(f"{bucket}/model"))
            return
        began = time.monotonic()
        assert NamedModels().local(Path(f"{bucket}/model")).read_bytes() == b"x" * SIZE
    assert time.monotonic() - began > LIMIT_S
