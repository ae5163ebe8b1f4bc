"""Files by content in an object store (S3 and what speaks like it)."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections import deque
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.errors import BlobLost, StoreError
from assay.models.named_sources.tokens import LOOPBACK
from assay.ports import BlobInfo
from assay.stores.folder_blobs import damaged
from assay.stores.object_errors import translate_errors

if TYPE_CHECKING:
    from obstore import Bytes
    from obstore.store import ObjectStore, S3Config

PART_BYTES = 8 << 20
"""Of one request of a large file. What is larger goes in parts, several at a time, so that no request takes long."""
AT_ONCE = 8
ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
"""Where the address stands, the first before the others."""
UNSIGNED = "AWS_UNSIGNED_PAYLOAD"
"""The client's own variable; who sets it decides."""
_SECONDS = timedelta(seconds=60)
"""Of one request, a part of a file at most."""
_RETRIES = 5
_PATIENCE = timedelta(seconds=30)
_REMOVED_AT_ONCE = 500


class ObjectBlobs:
    """Implements `assay.ports.Blobs`: objects `blobs/ab/abcd...` below `s3://bucket/prefix`. Credentials, region and endpoint come from the
    environment, as for every client of S3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION,
    AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL."""

    def __init__(self, location: str) -> None:
        self.name = location.rstrip("/")
        self._store = open_objects(self.name)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="blobs")

    def put(self, path: Path, digest: str) -> None:
        """In parts, where it is large: the object is there when all parts are."""
        import obstore

        size = path.stat().st_size
        with translate_errors(self.name):
            obstore.put(
                self._store,
                _key(digest),
                path,
                use_multipart=size > PART_BYTES,
                chunk_size=max(PART_BYTES, size // 9000),
                max_concurrency=AT_ONCE,
            )

    def fetch(self, digest: str, path: Path) -> None:
        """Into a file beside `path`, which gets its name when the digest is right."""
        new = path.with_name(f".{uuid.uuid4().hex}")
        try:
            size = self._size(digest)
            with new.open("xb") as file:
                digest_read = self._bring(digest, size, file.fileno())
                if digest_read != digest:
                    raise BlobLost(damaged(digest, self.name, size, digest_read))
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)

    def read(self, digest: str, start: int, stop: int) -> bytes:
        """By one request for these bytes."""
        return bytes(self._range(digest, start, stop)) if stop > start else b""

    def _range(self, digest: str, start: int, stop: int) -> Bytes:
        """As the client has it: a copy of each part of a large file would take as long as its digest."""
        import obstore

        with translate_errors(self.name, digest):
            return obstore.get_range(self._store, _key(digest), start=start, end=stop)

    def sizes(self, digests: Collection[str]) -> dict[str, int]:
        """One request for each, several at a time."""

        def one(digest: str) -> tuple[str, int] | None:
            with suppress(BlobLost):
                return digest, self._size(digest)
            return None

        return dict(entry for entry in self._threads.map(one, digests) if entry)

    def every(self) -> Iterator[BlobInfo]:
        """By listing, a thousand to a request."""
        import obstore

        with translate_errors(self.name):
            for some in obstore.list(self._store, "blobs", chunk_size=1000):
                for info in some:
                    yield BlobInfo(info["path"].rpartition("/")[2], info["size"], info["last_modified"].timestamp())

    def remove(self, digests: Collection[str]) -> None:
        """Those that are not there are passed over."""
        import obstore

        keys = [_key(digest) for digest in digests]
        for start in range(0, len(keys), _REMOVED_AT_ONCE):
            with translate_errors(self.name), suppress(FileNotFoundError):
                obstore.delete(self._store, keys[start : start + _REMOVED_AT_ONCE])

    def close(self) -> None:
        """End the threads. Closing twice is harmless."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _size(self, digest: str) -> int:
        import obstore

        with translate_errors(self.name, digest, self._list_one):
            return int(obstore.head(self._store, _key(digest))["size"])

    def _list_one(self) -> object:
        import obstore

        return next(iter(obstore.list(self._store, "blobs", chunk_size=1)), None)

    def _bring(self, digest: str, size: int, file: int) -> str:
        """The digest of what came. Parts are read and written side by side and hashed in order: on one thread writing took as long as
        hashing. No more than `AT_ONCE` wait in memory."""
        digested = hashlib.sha256()
        starts = iter(range(0, size, PART_BYTES))
        with ThreadPoolExecutor(AT_ONCE) as threads:

            def ask(count: int) -> Iterator[Future[Bytes]]:
                return (threads.submit(self._bring_part, digest, start, size, file) for start in islice(starts, count))

            under_way = deque(ask(AT_ONCE))
            while under_way:
                part = under_way.popleft().result()
                under_way.extend(ask(1))
                digested.update(part)
        return digested.hexdigest()

    def _bring_part(self, digest: str, start: int, size: int, file: int) -> Bytes:
        part = self._range(digest, start, min(size, start + PART_BYTES))
        rest, at = memoryview(part), start
        while rest:
            written = os.pwrite(file, rest, at)
            rest, at = rest[written:], at + written
        return part


def open_objects(location: str) -> ObjectStore:
    try:
        from obstore.store import from_url
    except ModuleNotFoundError:
        raise StoreError(f"the store {location} needs its client: pip install 'assay[s3]'") from None
    endpoint = next((os.environ[name] for name in ENDPOINTS if os.environ.get(name)), "")
    # A server on this machine or in this network is often without TLS: whoever names it with http:// means it.
    plain = endpoint.startswith("http://")
    # By itself the client takes the variable that was set last: the address that is judged here is the one that is asked.
    config: S3Config = {"endpoint": endpoint} if endpoint else {}
    if _arrives_whole(endpoint) and UNSIGNED not in os.environ:
        config["unsigned_payload"] = True
    with translate_errors(location):
        return from_url(
            location,
            config=config,
            client_options={"allow_http": plain, "connect_timeout": timedelta(seconds=10), "timeout": _SECONDS},
            retry_config={"max_retries": _RETRIES, "retry_timeout": _PATIENCE},
        )


def _arrives_whole(endpoint: str) -> bool:
    """Whether TLS, or the machine itself, sees to it that the server gets the bytes that were sent: a digest in the signature of each
    request, which both sides compute, adds nothing then."""
    parts = urlsplit(endpoint)
    return parts.scheme != "http" or parts.hostname in LOOPBACK


def _key(digest: str) -> str:
    return f"blobs/{digest[:2]}/{digest}"
