"""A file of a web server, by its address and its digest."""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from assay.errors import BadModel
from assay.models.named_sources.deadline import handlers_until_deadline
from assay.models.named_sources.tokens import check_server, demand_no_query, host_of, token_of
from assay.models.named_sources.wanted import SourceRequest

_CHUNK_BYTES = 1 << 20
_SILENCE_S = 60.0
_DIGEST = re.compile(r"[0-9a-f]{64}")


def from_address(request: SourceRequest, into: Path) -> Path:
    """`https://host/model.onnx#sha256=DIGEST`: what has other bytes is not used."""
    demand_no_query(request.said.partition("#")[0])
    address, digest = with_digest(request.said)
    if not digest:
        raise BadModel(
            f"{address} may change at any time: say which file is meant, {address}#sha256=DIGEST (sha256sum prints it)"
        )
    check_server(address)
    to = into / name_of(urlsplit(address).path)
    check_digest(address, download(request, address, to), digest)
    return to


def with_digest(address_text: str) -> tuple[str, str]:
    """The address and its digest, "" without one. Raises BadModel for what is none."""
    address, _, fragment = address_text.partition("#")
    digest = fragment.removeprefix("sha256=").lower()
    if fragment and not _DIGEST.fullmatch(digest):
        raise BadModel(
            f"{address_text}: #{fragment} is no digest: write #sha256= and 64 hexadecimal digits (sha256sum prints them)"
        )
    return address, digest


def check_digest(address: str, actual: str, digest: str) -> None:
    """Raises BadModel where they differ."""
    if actual != digest:
        raise BadModel(
            f"{address} has the digest {actual[:16]}..., and {digest[:16]}... is asked for: the file was changed, or the digest is wrong"
        )


def name_of(path: str) -> str:
    """Of a file in a folder, whatever the server calls it."""
    name = PurePosixPath(path).name
    return name if name not in ("", ".", "..") and "\0" not in name else "model.onnx"


def download(request: SourceRequest, address: str, to: Path, credentials: str = "") -> str:
    """Its digest. `credentials` as for `open_address`."""
    hasher = hashlib.sha256()
    with open_address(request, address, credentials) as answer, to.open("wb") as file:
        # What has arrived, not a whole chunk: a server that sends a byte now and then is not waited for.
        while chunk := answer.read1(_CHUNK_BYTES):
            request.demand_room(len(chunk))
            request.left_s()
            hasher.update(chunk)
            file.write(chunk)
    request.left_s()  # what was cut off at the deadline is no whole file
    return hasher.hexdigest()


class _CheckedRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """To where a user might have sent us, too; the token is for the host that it was given for."""
        check_server(newurl)
        new = super().redirect_request(req, fp, code, msg, headers, newurl)
        if new is not None and host_of(newurl) != host_of(req.full_url):
            new.remove_header("Authorization")
        return new


class NotServed(BadModel):
    """The server has nothing of that name."""


@contextmanager
def open_address(wanted: SourceRequest, address: str, credentials: str = "") -> Iterator[http.client.HTTPResponse]:
    """The answer. `credentials` is the header that the host is shown where the environment has no token for it. Raises BadModel."""
    headers = {"User-Agent": "assay"}
    token = token_of(host_of(address))
    if shown := f"Bearer {token}" if token else credentials:
        headers["Authorization"] = shown
    request = urllib.request.Request(address, headers=headers)
    try:
        with handlers_until_deadline(wanted) as handlers:
            opener = urllib.request.build_opener(_CheckedRedirects, *handlers)
            with opener.open(request, timeout=min(_SILENCE_S, wanted.left_s())) as answer:
                yield answer
    except urllib.error.HTTPError as error:
        error.close()
        kind = NotServed if error.code == http.client.NOT_FOUND else BadModel
        raise kind(f"{address} cannot be fetched (HTTP {error.code} {error.reason})") from None
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError, ValueError) as error:
        wanted.left_s()
        raise BadModel(f"{address} cannot be fetched ({getattr(error, 'reason', error)})") from None
