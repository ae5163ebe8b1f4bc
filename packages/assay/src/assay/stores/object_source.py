"""One object of an object store, as a file: a model that lies in a bucket."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import BadModel, StoreError
from assay.models.named_sources.wanted import SourceRequest
from assay.models.named_sources.web_address import check_digest, name_of, with_digest
from assay.stores.object_blobs import PART_BYTES, open_objects
from assay.stores.object_errors import translate_errors

if TYPE_CHECKING:
    from obstore import GetOptions


def from_bucket(request: SourceRequest, into: Path) -> Path:
    """`s3://bucket/folder/model.onnx`, with `#sha256=DIGEST` behind it where no other bytes will do. Raises BadModel."""
    address, digest = with_digest(request.said)
    bucket, _, key = address.removeprefix("s3://").partition("/")
    if not bucket or not key or key.endswith("/"):
        raise BadModel(f"{request.said} names no object: write s3://bucket/folder/model.onnx")
    to = into / name_of(key)
    try:
        digest_read = _fetched(request, f"s3://{bucket}", key, to)
    except StoreError as error:
        raise BadModel(f"{address} cannot be fetched: {error}") from None
    if digest:
        check_digest(address, digest_read, digest)
    return to


def _fetched(request: SourceRequest, bucket: str, key: str, to: Path) -> str:
    """In parts, as each request has a limit of its own, and all of one state: an object that is replaced meanwhile is refused."""
    import obstore

    store, hasher = open_objects(bucket), hashlib.sha256()

    def ask_why() -> object:
        return obstore.get_range(store, key, start=0, length=1)

    with translate_errors(bucket, ask_why=ask_why), to.open("wb") as file:
        try:
            there = obstore.head(store, key)
        except FileNotFoundError:
            raise BadModel(f"{bucket}/{key} is not there: check the bucket and the key") from None
        request.demand_room(there["size"])
        same: GetOptions = {"if_match": there["e_tag"]} if there["e_tag"] else {}
        for start in range(0, there["size"], PART_BYTES):
            request.left_s()
            part = obstore.get(store, key, options={**same, "range": (start, start + PART_BYTES)}).bytes()
            hasher.update(part)
            file.write(part)
    return hasher.hexdigest()
