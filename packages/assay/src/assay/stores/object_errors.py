"""What went wrong in an object store, in one sentence: from the words of its client to an error of the harness."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from assay.errors import BlobLost, StoreError, StoreUnreachable
from assay.stores.folder_blobs import missing

_CODE = re.compile(r"<Code>(\w+)</Code>")
_STATUS = re.compile(r"status code: (\d{3})")

_BY_CODE = {
    "NoSuchBucket": "has no such bucket: make it, or correct `store` in assay.toml",
    "SignatureDoesNotMatch": "refuses the credentials: AWS_SECRET_ACCESS_KEY is not the one of AWS_ACCESS_KEY_ID",
    "InvalidAccessKeyId": "does not know the key in AWS_ACCESS_KEY_ID: correct it",
    "AccessDenied": "does not allow this: ask its owner for the rights to list, read and write objects below that prefix",
    "ExpiredToken": "refuses the credentials, which have expired: get new ones",
    "RequestTimeTooSkewed": "refuses the request, whose time differs from the server's: set the clock of this machine",
}
_DENIED = "refuses the credentials: check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and the rights of that user"
_REFUSED = ("PermissionDeniedError", "UnauthenticatedError")
_NO_ANSWER = ("Error performing", "Generic")
"""What the client says of a request that got no whole answer."""
_ASKS_THE_MACHINE = ("169.254.169.254", "fetching credentials")
"""Without credentials the client asks the service by which a machine of a cloud gets them."""
_NO_CREDENTIALS = (
    "has no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where the machine has a role"
)


@contextmanager
def translate_errors(name: str, digest: str = "", ask_why: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Turn the client's errors into StoreError, StoreUnreachable, or BlobLost where it is `digest` that is not there. `ask_why` is a
    request whose refusal has a text: that of HEAD has none, and a wrong clock looks like a wrong key."""
    from obstore.exceptions import BaseError

    try:
        yield
    except (BaseError, FileNotFoundError, PermissionError, ValueError) as error:
        said = str(error)
        code = _first(_CODE, said) or (_code_of(ask_why) if type(error).__name__ in _REFUSED else "")
        if code in _BY_CODE:
            raise StoreError(f"the store {name} {_BY_CODE[code]}") from None
        if isinstance(error, FileNotFoundError) and digest:
            raise BlobLost(missing(digest, name)) from None
        raise _by_words(name, type(error).__name__, said) from None


def _code_of(request: Callable[[], object]) -> str:
    from obstore.exceptions import BaseError

    try:
        request()
    except (BaseError, OSError) as error:
        return _first(_CODE, str(error))
    return ""


def _by_words(name: str, kind: str, said: str) -> StoreError:
    if kind in _REFUSED:
        return StoreError(f"the store {name} {_DENIED}")
    if any(phrase in said.lower() for phrase in _ASKS_THE_MACHINE):
        return StoreError(f"the store {name} {_NO_CREDENTIALS}")
    status = _first(_STATUS, said)
    if status.startswith("5") or status == "429":
        return StoreUnreachable(f"the store {name} does not answer now (HTTP {status}, tried again for some seconds)")
    if not status and any(phrase in said for phrase in _NO_ANSWER):
        address = "is AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL right?"
        return StoreUnreachable(f"the store {name} cannot be reached ({_reason(said)}): {address}")
    return StoreError(f"the store {name} cannot be read or written ({_reason(said)}): check `store` in assay.toml")


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group(1) if match else ""


def _reason(said: str) -> str:
    """The client's first line, without what it says for its own developers, and without the address of the request."""
    line = said.strip().partition("\n")[0]
    line = re.sub(r"https?://\S+", "the server", line)
    line = re.sub(r"^.* after (\d+) retries.* - ", r"asked \1 times again: ", line)
    return " ".join(line.split())[:200].rstrip(" .:")
