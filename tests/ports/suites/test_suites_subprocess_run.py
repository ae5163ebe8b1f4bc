"""Cases that a process of its own makes: once, and told in one sentence where they cannot be made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.errors import HarnessError
from assay.suites.cache import INDEX, read_index
from assay.suites.subprocess_run import make_in_subprocess

MAKER = """
import pathlib, sys
from assay.suites.cache import write_index
index = pathlib.Path(sys.argv[1])
with (index.parent / "times").open("a") as file:
    file.write("made\\n")
write_index(index, [])
"""


@pytest.fixture(autouse=True)
def _makers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cases_maker.py").write_text(MAKER)
    full = "from assay.errors import NotWritable\nraise NotWritable('cases cannot be written (No space left)')"
    (tmp_path / "full_maker.py").write_text(full)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_of_those_that_lack_it_at_once_one_makes_it(tmp_path: Path) -> None:
    index = tmp_path / INDEX
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: make_in_subprocess(index, "cases_maker", "no cases", str(index)), range(3)))
    assert read_index(index) == []
    assert (tmp_path / "times").read_text() == "made\n"


def test_what_cannot_be_made_is_told_without_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(HarnessError) as caught:
        make_in_subprocess(tmp_path / INDEX, "full_maker", "no cases", str(tmp_path / INDEX))
    assert str(caught.value) == "no cases: cases cannot be written (No space left)"
