"""Where files are kept by content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

import msgspec

from assay.core.kept_folder import KeptFolder


class BlobInfo(msgspec.Struct, frozen=True):
    """What a listing says of one blob. `changed_s` is when it was written, in seconds since 1970, by the clock of the store."""

    digest: str
    size_bytes: int
    changed_s: float


class Blobs(Protocol):
    """Files named by the sha256 of their bytes, opened with what `store` in assay.toml says: `NAME://...` picks the one whose entry point
    (group `assay.blobs`) is called NAME. Threads may share it. Every method raises `StoreUnreachable` where nobody answers, so that the
    same may be tried again, and `StoreError` where it is refused, in one sentence. Conformance: `assay.testing.check_blobs`."""

    def put(self, path: Path, digest: str) -> None:
        """Keep this file, which has that digest. Others see the whole of it or nothing."""
        ...

    def fetch(self, digest: str, path: Path) -> None:
        """Write it to `path`, which is there only where every byte is right. Raises `BlobLost` where it is not there, or damaged."""
        ...

    def read(self, digest: str, start: int, stop: int) -> bytes:
        """These bytes of it alone. They are not verified: the digest is that of the whole. Raises `BlobLost`."""
        ...

    def sizes(self, digests: Collection[str]) -> dict[str, int]:
        """The bytes of those that are there."""
        ...

    def every(self) -> Iterator[BlobInfo]:
        """All that are there, in any order."""
        ...

    def remove(self, digests: Collection[str]) -> None:
        """Those that are not there are passed over."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class KeepsFolders(Protocol):
    """A history that knows which folders lie in a store of blobs: what moves is here, what is named by content is there."""

    def folders(self, names: Collection[str] | None = None) -> dict[str, KeptFolder]:
        """Those with these names; a name that ends in / stands for all below it. None: all."""
        ...

    def change_folders(
        self,
        names: Collection[str],
        change: Callable[[Mapping[str, KeptFolder]], Mapping[str, KeptFolder | None]],
    ) -> None:
        """`change` gets those of `names` that are there, and says what each becomes, None for gone; in one transaction that no other
        writer comes between."""
        ...
