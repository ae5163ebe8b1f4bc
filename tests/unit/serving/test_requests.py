"""Prompts of a load, as a user writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.serving.requests import read_mix_prompts


@pytest.mark.parametrize("line", ["[" * 100_000, "{", "7", '{"ids": 3}', '""'])
def test_a_line_that_is_no_prompt_is_one_sentence(line: str, tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text(f'"good"\n{line}\n')
    with pytest.raises(UsageError, match="cannot be read as prompts") as error:
        read_mix_prompts(tmp_path / "prompts.jsonl")
    assert "\n" not in str(error.value)


def test_texts_and_token_numbers_are_read(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text('"good"\n[1, 2]\n{"ids": [3]}\n{"text": "a"}\n')
    assert read_mix_prompts(tmp_path / "prompts.jsonl") == ["good", [1, 2], [3], "a"]
