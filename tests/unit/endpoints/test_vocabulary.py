"""Tokens by their text, of a vocabulary as large as those of today's models."""

from __future__ import annotations

import json
import time
from pathlib import Path

from assay.endpoints.openai import Vocabulary


def test_a_large_vocabulary_is_read_in_time(tmp_path: Path) -> None:
    words = {f"w{number}": number for number in range(30_000)}
    model = {"type": "WordLevel", "vocab": words, "unk_token": "w0"}
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": model, "added_tokens": []}))
    began = time.process_time()
    vocabulary = Vocabulary(str(tmp_path / "tokenizer.json"))
    assert time.process_time() - began < 3.0
    assert vocabulary.number("w29999") == 29_999
    assert vocabulary.number("token_id:7") == 7
    assert vocabulary.number("another") is None
