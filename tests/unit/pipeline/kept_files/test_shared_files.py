"""Two machines share folders by a store of blobs and a history: who sees what, and what is never overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay.errors import BlobLost, UsageError
from assay.models import cache_eviction
from assay.pipeline.kept_files.shared_files import SharedFiles
from assay.stores.folder_blobs import FolderBlobs
from assay.stores.sql import SqlStore

CELL = "baselines/m/onnxruntime/"
ENGINE = f"{CELL}kind"


class Machine:
    def __init__(self, folder: Path, blobs: FolderBlobs, store: SqlStore) -> None:
        folder.mkdir()
        self.folder, self.files = folder, SharedFiles(folder, blobs, store)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.is_file() else ""


@pytest.fixture
def blobs(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(str(tmp_path / "store"))


@pytest.fixture
def two(tmp_path: Path, blobs: FolderBlobs) -> Iterator[tuple[Machine, Machine]]:
    with closing(SqlStore(str(tmp_path / "history.db"))) as store:
        yield Machine(tmp_path / "a", blobs, store), Machine(tmp_path / "b", blobs, store)


def test_what_one_machine_keeps_another_has_and_nothing_is_sent_twice(two: tuple[Machine, Machine]) -> None:
    first, second = two
    first.write(f"{ENGINE}/artifact/model.bin", "engine 1")
    first.write(f"{ENGINE}/baseline.json", "by whom")
    assert first.files.keep(CELL) == 2
    assert first.files.keep(CELL) == 0
    second.files.bring(CELL)
    assert second.text(f"{ENGINE}/artifact/model.bin") == "engine 1"
    assert second.files.keep(CELL) == 0
    second.write("oracle/abc/outputs", "engine 1")
    assert second.files.keep("oracle/abc") == 0, "the same bytes were sent twice"


def test_a_change_reaches_the_other_machine_and_so_does_a_removal(two: tuple[Machine, Machine]) -> None:
    first, second = two
    first.write(f"{ENGINE}/baseline.json", "one")
    first.files.keep(CELL)
    second.files.bring(CELL)
    first.write(f"{ENGINE}/baseline.json", "two, longer")
    assert first.files.keep(CELL) == 1
    second.files.bring(CELL)
    assert second.text(f"{ENGINE}/baseline.json") == "two, longer"
    (second.folder / ENGINE).rename(second.folder / f"{CELL}replaced-1")
    second.files.keep(CELL)
    first.files.bring("baselines/")
    assert first.text(f"{ENGINE}/baseline.json") == ""
    assert first.text(f"{CELL}replaced-1/baseline.json") == "two, longer"


def test_what_two_approve_at_once_is_refused_to_the_second(two: tuple[Machine, Machine]) -> None:
    first, second = two
    first.write(f"{ENGINE}/baseline.json", "of the first")
    second.write(f"{ENGINE}/baseline.json", "of the second")
    first.files.keep(CELL)
    with pytest.raises(UsageError, match="was changed on another machine meanwhile: nothing was shared"):
        second.files.keep(CELL)
    second.files.bring(CELL)
    assert second.text(f"{ENGINE}/baseline.json") == "of the second", "what was not shared was overwritten"


def test_what_was_not_sent_yet_stays(two: tuple[Machine, Machine]) -> None:
    first, second = two
    first.write("oracle/abc/outputs", "computed by the first")
    second.write("oracle/abc/outputs", "computed by the second")
    first.files.keep("oracle/abc")
    second.files.bring_if_whole("oracle/abc")
    second.files.bring("oracle/abc")
    assert second.text("oracle/abc/outputs") == "computed by the second"


def test_a_damaged_or_missing_file_leaves_nothing_here(two: tuple[Machine, Machine], blobs: FolderBlobs) -> None:
    first, second = two
    first.write("oracle/abc/inputs", "inputs")
    first.write("oracle/abc/outputs", "outputs")
    first.files.keep("oracle/abc")
    (found,) = [blob for blob in blobs.every() if blob.size_bytes == len("outputs")]
    path = Path(blobs.name) / found.digest[:2] / found.digest
    path.write_text("damaged")
    second.files.bring_if_whole("oracle/abc")
    assert not (second.folder / "oracle").exists()
    with pytest.raises(BlobLost, match=r"damaged .* nothing of it was used; `assay store push --verify`"):
        second.files.bring("oracle/abc")
    assert first.files.push() == 0
    assert first.files.push(verify=True) == 1
    path.unlink()
    assert first.files.push() == 1
    second.files.bring("oracle/abc")
    assert second.text("oracle/abc/outputs") == "outputs"


def test_copies_that_were_not_used_for_longest_go_and_come_back(
    two: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = two
    monkeypatch.setattr(cache_eviction, "BUSY_S", -1.0)
    for name in ("a", "b"):
        first.write(f"oracle/{name}/outputs", name * 5000)
        first.files.keep(f"oracle/{name}")
    first.write("oracle/mine/outputs", "c" * 5000)
    first.files.bring("oracle/a")
    assert first.files.evict(20_000) == 0
    assert first.files.evict(7_000) == 1
    assert [first.text(f"oracle/{name}/outputs")[:1] for name in ("a", "b", "mine")] == ["a", "", "c"]
    first.files.keep("oracle/a")
    first.files.bring("oracle/")
    assert first.text("oracle/b/outputs") == "b" * 5000


def test_what_is_forgotten_is_known_to_nobody(two: tuple[Machine, Machine]) -> None:
    first, second = two
    first.write("candidates/1/engine", "x")
    first.files.keep("candidates/1")
    first.files.forget(["candidates/1"])
    second.files.bring("candidates/")
    assert not (second.folder / "candidates").exists()


def test_a_name_outside_of_the_folder_is_refused(two: tuple[Machine, Machine], tmp_path: Path) -> None:
    from assay.core.kept_folder import KeptFile, KeptFolder

    first, second = two
    first.write("oracle/abc/outputs", "x")
    first.files.keep("oracle/abc")
    assert second.files._names is not None
    (known,) = second.files._names.folders().values()
    wrong = KeptFolder((KeptFile("../../outside", known.files[0].sha256, 1),))
    second.files._names.change_folders(["oracle/abc"], lambda before: dict.fromkeys(before, wrong))
    with pytest.raises(UsageError, match="outside of its folder"):
        second.files.bring("oracle/abc")
    assert not (tmp_path / "outside").exists()


def test_nothing_is_shared_without_a_store(tmp_path: Path) -> None:
    alone = SharedFiles(tmp_path)
    alone.bring("baselines/")
    alone.bring_if_whole("oracle/x")
    alone.forget(["oracle/x"])
    assert alone.keep("baselines/") == alone.push() == 0
    assert not alone
    assert list(tmp_path.iterdir()) == []
