"""A claim that never holds fails, and one that a busy machine spoiled once does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from statistical import TRIES, three_tries


def test_what_never_holds_fails_after_its_tries() -> None:
    tries = []

    @three_tries
    def claim() -> None:
        tries.append(1)
        raise AssertionError("never")

    with pytest.raises(AssertionError, match="never"):
        claim()
    assert len(tries) == TRIES


def test_a_fresh_try_has_a_folder_of_its_own_and_one_that_holds_is_enough(tmp_path: Path) -> None:
    folders = []

    @three_tries
    def claim(tmp_path: Path) -> None:
        folders.append(tmp_path)
        assert len(folders) == 2

    claim(tmp_path=tmp_path)
    assert len(set(folders)) == 2
    assert all(folder.is_dir() for folder in folders)


def test_an_error_is_not_tried_again() -> None:
    @three_tries
    def claim() -> None:
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        claim()
