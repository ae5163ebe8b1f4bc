"""A served language model checked as a user does it."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.errors import UsageError
from assay.judge.words.note_text import note_text
from served_model import MODEL, PROMPTS, TOKENIZER, serving


def test_a_service_is_a_flow(tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(PROMPTS, "utf-8")

    def check(address: str) -> VerifyResult:
        checked = assay.check(
            MODEL,
            endpoint=address,
            inputs=prompts,
            tokenizer=TOKENIZER,
            options={"draws": 0},
            measure=False,
            history=tmp_path / ".assay",
        )
        (result,) = checked.results
        assert isinstance(result, VerifyResult)
        return result

    with serving() as address:
        right = check(address)
    assert right.outcome is Outcome.OK, right.detail
    assert right.flow == "openai"
    assert 0.0 < right.comparisons[0].metrics["budget_used"] < 0.5
    assert right.task_metrics["kl_max"] < 1e-9
    assert any("chat was not looked at" in note_text(note) for note in right.notes)
    gone = check(address)
    assert gone.outcome is Outcome.INFRASTRUCTURE
    assert "nothing answers at" in gone.detail


def test_an_address_says_its_protocol() -> None:
    with pytest.raises(UsageError, match="an address ends in /v1"):
        assay.check(MODEL, endpoint="http://127.0.0.1:9/other")
