"""What comes in is copied by us, file by file; nothing is followed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from zoo_incoming import checked, problems, submitted, taken

from assay_zoo.intake import Problem, take_in


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return submitted(tmp_path)


def test_what_is_taken_is_ours_and_has_its_digest(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "a.txt").write_text("a")
    intake = taken(folder)
    assert [entry.path for entry in intake.taken] == ["README.md", "data/a.txt"]
    for entry in intake.taken:
        copy, original = intake.folder / entry.path, folder / entry.path
        assert copy.read_bytes() == original.read_bytes()
        assert copy.stat().st_ino != original.stat().st_ino


def test_the_digest_knows_contents_and_names_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    first = take_in(folder, tmp_path / "1").digest
    os.utime(folder / "README.md", (0, 0))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"left by Python")
    again = take_in(folder, tmp_path / "2")
    assert again.digest == first
    assert again.left_out == ("__pycache__",)
    (folder / "README.md").write_text("# A model.\n")
    assert take_in(folder, tmp_path / "3").digest != first


def test_links_and_special_files_are_told_and_never_opened(folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to("/etc")
    (folder.parent / "outside").write_text("of somebody else")
    os.link(folder.parent / "outside", folder / "hard")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket is at most 108 bytes long
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        intake = taken(folder)
    assert problems(intake) == {
        "link": Problem.LINK,
        "folder": Problem.LINK,
        "hard": Problem.HARD_LINK,
        "pipe": Problem.SPECIAL,
        "socket": Problem.SPECIAL,
    }
    assert [path.name for path in intake.folder.rglob("*")] == ["README.md"]
    assert "points to /etc/passwd" in str(intake.entries)


def test_a_link_in_the_place_of_the_folder_is_not_followed(folder: Path) -> None:
    (folder.parent / "link").symlink_to("/etc")
    intake = take_in(folder.parent / "link", folder.parent / "copy")
    assert problems(intake) == {"link": Problem.LINK}
    assert list(intake.folder.iterdir()) == []


def test_a_sparse_file_counts_as_large_as_it_seems(folder: Path) -> None:
    with (folder / "sparse.bin").open("wb") as file:
        file.truncate(10_000_000_000)
    (check,) = checked(folder)
    assert check.name == "files.sizes"
    assert "10000000000 bytes" in check.sentence


def test_ten_thousand_files_are_one_finding_with_a_number(folder: Path) -> None:
    for number in range(10_000):
        (folder / f"{number}.txt").touch()
    checks = checked(folder)
    assert {check.name for check in checks} == {"files.sizes"}
    assert len(checks) < 30
    assert checks[-1].sentence == "and 9481 more"


def test_folders_in_folders_end(folder: Path) -> None:
    place = folder
    for _ in range(40):
        place = place / "d"
        place.mkdir()
    (place / "deep.txt").touch()
    (problem,) = problems(taken(folder)).values()
    assert problem is Problem.TOO_DEEP


def test_the_total_is_what_counts(folder: Path) -> None:
    for name in "abc":
        (folder / name).write_bytes(bytes(1000))
    assert list(problems(taken(folder, total_bytes=2500)).values()) == [Problem.TOTAL]


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb", "a\u202eb", "a\\..\\b", "c:b", "blank ", "\udcff"])
def test_a_hostile_name_is_not_taken_and_is_shown_harmless(folder: Path, name: str) -> None:
    (folder / name).write_text("x")
    intake = taken(folder)
    (path,) = problems(intake)
    assert problems(intake)[path] is Problem.NAME
    assert path.isprintable()
    assert [entry.path for entry in intake.taken] == ["README.md"]


def test_names_that_are_one_elsewhere_are_told(folder: Path) -> None:
    (folder / "readme.md").write_text("another")
    (check,) = checked(folder)
    assert check.name == "files.names"
