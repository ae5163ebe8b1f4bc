"""One tensor of a reference that lies in a store: a folder, and a real S3 server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import pytest

from assay.commands import store as commands
from assay.core.model import Model
from assay.errors import BlobLost, NotWritable, UsageError
from assay.models.goldens import write_golden
from assay.models.tensors import read_tensors
from assay.pipeline.kept_files.shared_files import SharedFiles
from assay.ports import Blobs
from assay.stores.folder_blobs import FolderBlobs
from assay.stores.object_blobs import ObjectBlobs
from assay.stores.sql import SqlStore

NAME = "oracle/net"
X = np.arange(500_000, dtype=np.float32).reshape(1, -1)


@dataclass
class Shared:
    """The history of a machine that has nothing but the history."""

    history: str
    blobs: Blobs
    lock: Path
    read: list[int] = field(default_factory=list)

    def tensor(self, name: str) -> object:
        return commands.read_tensor(self.history, NAME, name)


@pytest.fixture(params=["folder", "s3"])
def shared(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shared]:
    address = str(tmp_path / "store") if request.param == "folder" else request.getfixturevalue("bucket")
    kind = FolderBlobs if request.param == "folder" else ObjectBlobs
    monkeypatch.setenv("ASSAY_STORE", address)
    first, second = tmp_path / "first", tmp_path / "second"
    outputs = [{"y": X + 1, "scores": X[:, :3]}]
    write_golden(
        first / NAME, model=Model("net", "net.onnx", "0" * 64), inputs=[{"x": X, "y": X}], outputs=outputs, seed=1, producer="p",
        producer_version="1", who="w", reason="r", created_at="2026-01-01",
    )  # fmt: skip
    second.mkdir()
    with closing(kind(address)) as blobs, closing(SqlStore(str(second / "history.db"))) as store:
        SharedFiles(first, blobs, store).keep(NAME)
        shared_golden = Shared(str(second), blobs, first / NAME / "golden.lock")
        whole = kind.read
        monkeypatch.setattr(
            kind,
            "read",
            lambda self, digest, first, last: (
                shared_golden.read.append(last - first),
                whole(self, digest, first, last),
            )[1],
        )
        yield shared_golden


def test_of_a_large_file_only_its_bytes_are_read(shared: Shared) -> None:
    assert np.array_equal(shared.tensor("scores"), X[None, :, :3])
    assert sum(shared.read) < 4000
    assert np.array_equal(shared.tensor("input:y"), X[None])
    assert np.array_equal(shared.tensor("output:y"), X[None] + 1)


def test_it_becomes_a_file(shared: Shared, tmp_path: Path) -> None:
    commands.save_tensor(shared.history, NAME, "output:scores", tmp_path / "out")
    assert np.array_equal(read_tensors(tmp_path / "out")["scores"], X[None, :, :3])
    with pytest.raises(NotWritable, match="name another --output"):
        commands.save_tensor(shared.history, NAME, "scores", tmp_path / "none" / "out")


def test_what_is_not_there_names_what_is(shared: Shared) -> None:
    with pytest.raises(UsageError, match="has 2 tensors 'y': write input:y or output:y"):
        shared.tensor("y")
    with pytest.raises(UsageError, match="has no tensor 'z'; it has input:x, input:y, output:y, output:scores"):
        shared.tensor("z")
    with pytest.raises(UsageError, match="shares no folder oracle/other"):
        commands.read_tensor(shared.history, "oracle/other", "y")


def test_bytes_that_the_lock_does_not_say_are_not_given(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(shared.blobs)
    whole = kind.read
    monkeypatch.setattr(kind, "read", lambda *asked: b"\x01" * 12 if asked[3] - asked[2] == 12 else whole(*asked))
    with pytest.raises(BlobLost, match="other bytes in the store than its lock says"):
        shared.tensor("scores")


def test_the_lock_of_an_earlier_version_has_no_digests_and_the_whole_is_verified(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = commands.read_lock(shared.lock.parent)
    plain = [
        msgspec.structs.replace(
            file, tensors=tuple(msgspec.structs.replace(tensor, sha256="") for tensor in file.tensors)
        )
        for file in lock.files
    ]
    monkeypatch.setattr(commands, "read_lock", lambda _: msgspec.structs.replace(lock, files=tuple(plain)))
    assert np.array_equal(shared.tensor("scores"), X[None, :, :3])
