"""The text of tokens is what they add to their prompt."""

from __future__ import annotations

from typing import Any

import pytest

from assay.ports.prompts import Completion
from assay.worker.service.rules import text_rules


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders
    from tokenizers.models import WordLevel

    made = Tokenizer(WordLevel({"\u2581the": 0, "\u2581cat": 1, "?": 2}, "?"))
    made.decoder = decoders.Metaspace()
    return made


class _Service:
    def __init__(self, text: str) -> None:
        self.answer = Completion(text, (1,) * 24, (), "length", None, 24)

    def complete(self, prompt: Any, tokens: int, **how: Any) -> Completion:
        if stop := how.get("stop"):
            return Completion(self.answer.text.partition(stop[0])[0], None, (), "stop", None, None)
        return self.answer


@pytest.mark.parametrize(("text", "rules"), [(" cat" * 24, []), ((" cat" * 24).strip(), ["text"])])
def test_a_space_behind_the_prompt_belongs_to_the_text(text: str, rules: list[str]) -> None:
    service = _Service(text)
    findings = text_rules(service, _tokenizer(), [((0,), service.answer)])  # type: ignore[arg-type]
    assert [finding.facts["rule"] for finding in findings] == rules
