"""How much memory there is: that of the machine, or less where a container has a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.launch.tree_memory import usable_bytes


@pytest.mark.parametrize(("name", "text"), [("memory.max", "4096\n"), ("memory/memory.limit_in_bytes", "4096\n")])
def test_a_container_has_what_its_control_group_allows(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert usable_bytes(tmp_path) == 4096


@pytest.mark.parametrize("text", ["max\n", f"{2**62}\n", "", None])
def test_without_a_limit_it_is_that_of_the_machine(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "memory.max").write_text(text)
    assert 2**28 < usable_bytes(tmp_path) < 2**50
