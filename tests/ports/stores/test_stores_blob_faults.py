"""A store that is away, refuses, stops in the middle or is damaged: one sentence, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assay.core.digest import sha256_bytes
from assay.errors import BlobLost, StoreError, StoreUnreachable
from assay.stores import object_blobs
from assay.stores.folder_blobs import FolderBlobs
from assay.stores.object_blobs import ObjectBlobs
from http_server import Handler, serving

DATA = b"an engine" * 100
DIGEST = sha256_bytes(DATA)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(DATA)
    return path


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_blobs, "_RETRIES", 1)


def _server(answer: Callable[[Handler], object]) -> AbstractContextManager[str]:
    class Answering(Handler):
        do_GET = do_HEAD = do_PUT = lambda self: answer(self)

    return serving(Answering)


def _cutting(handler: Handler) -> None:
    handler.send_response(200 if handler.command == "HEAD" else 206)
    handler.send_header("Content-Length", str(len(DATA)))
    handler.send_header("Content-Range", f"bytes 0-{len(DATA) - 1}/{len(DATA)}")
    handler.send_header("Last-Modified", "Thu, 26 Nov 2026 10:00:00 GMT")
    handler.send_header("ETag", '"x"')
    handler.end_headers()
    if handler.command == "GET":
        handler.wfile.write(DATA[:100])
        handler.close_connection = True


def _refusal(bucket: str, file: Path) -> str:
    with pytest.raises(StoreError) as refused:
        ObjectBlobs(bucket).put(file, DIGEST)
    return str(refused.value)


def test_wrong_credentials_a_wrong_key_and_none(bucket: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ObjectBlobs(bucket).put(file, DIGEST)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
    assert _refusal(bucket, file) == (
        f"the store {bucket} refuses the credentials: AWS_SECRET_ACCESS_KEY is not the one of AWS_ACCESS_KEY_ID"
    )
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody-at-all")
    assert _refusal(bucket, file) == f"the store {bucket} does not know the key in AWS_ACCESS_KEY_ID: correct it"


def test_a_refusal_without_a_text_is_asked_for_its_reason(bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """HEAD has no text in its answer: a clock that is wrong was called a wrong key."""

    def refuse(handler: Handler) -> None:
        skewed = b"<Error><Code>RequestTimeTooSkewed</Code></Error>"
        handler.answer(403, b"" if handler.command == "HEAD" else skewed)

    with _server(refuse) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(StoreError, match="whose time differs from the server's: set the clock of this machine"):
            ObjectBlobs(bucket).sizes([DIGEST])


def test_a_blob_of_other_bytes_is_not_given_out(bucket: str, file: Path, tmp_path: Path) -> None:
    blobs = ObjectBlobs(bucket)
    other = sha256_bytes(b"another")
    blobs.put(file, other)
    with pytest.raises(BlobLost, match=r"is damaged \(900 bytes with the digest .* `assay store push --verify`"):
        blobs.fetch(other, tmp_path / "back")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [(lambda handler: handler.answer(503), r"does not answer now \(HTTP 503"), (_cutting, r"cannot be reached \(")],
)
def test_a_server_that_cannot_now_or_stops_in_the_middle(
    answer: Callable[[Handler], object],
    sentence: str,
    bucket: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with _server(answer) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(StoreUnreachable, match=sentence) as caught:
            ObjectBlobs(bucket).fetch(DIGEST, tmp_path / "back")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_slow_or_not_there(bucket: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import timedelta

    ended = threading.Event()
    monkeypatch.setattr(object_blobs, "_SECONDS", timedelta(seconds=0.3))
    with _server(lambda handler: ended.wait(60)) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        with pytest.raises(StoreUnreachable, match="cannot be reached"):
            ObjectBlobs(bucket).put(file, DIGEST)
        ended.set()
    with pytest.raises(StoreUnreachable, match=r"cannot be reached .*AWS_ENDPOINT_URL right"):
        ObjectBlobs(bucket).put(file, DIGEST)


@pytest.mark.parametrize(("host", "is_signed"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_bytes_are_signed_where_nothing_else_protects_them(
    host: str, is_signed: bool, bucket: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second address is this machine as well, but does not say so."""
    asked: list[str] = []

    def note(handler: Handler) -> None:
        asked.append(handler.headers["x-amz-content-sha256"])
        handler.answer(200, ETag='"x"')

    with _server(note) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address.replace("127.0.0.1", host))
        ObjectBlobs(bucket).put(file, DIGEST)
    assert asked == [DIGEST if is_signed else "UNSIGNED-PAYLOAD"]


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"),
        ("AWS_ENDPOINT", "AWS_ENDPOINT_URL"),
        ("AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3"),
    ],
)
@pytest.mark.parametrize("is_last", [False, True])
def test_one_variable_goes_before_another_in_whatever_order_they_are_set(
    other: str, named: str, is_last: bool, bucket: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def note(handler: Handler) -> None:
        asked.append(handler.headers["host"])
        handler.answer(200, ETag='"x"')

    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with _server(note) as address:
        for name in (other, named) if is_last else (named, other):
            monkeypatch.setenv(name, address if name == named else "https://127.0.0.1:1")
        ObjectBlobs(bucket).put(file, DIGEST)
    assert asked == [address.removeprefix("http://")]


def test_a_folder_that_cannot_be_made_or_written(tmp_path: Path, file: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be read or written \(Not a directory\)"):
        FolderBlobs(str(file / "below"))
    with pytest.raises(BlobLost, match="is not in the store"):
        FolderBlobs(str(tmp_path / "store")).read(DIGEST, 0, 1)
