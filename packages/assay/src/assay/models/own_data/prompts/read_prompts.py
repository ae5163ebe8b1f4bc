"""A file of prompts as token numbers: given as such, or as text and the tokenizer of the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.errors import BadGolden

FORMS = 'a .jsonl file with a list of token numbers, a text or {"ids": [...]} on each line, or a .txt file with a text on each line'
PROMPTS = (".jsonl", ".txt")
FEWEST = 2
"""Tokens of a prompt: the first alone shows nothing of what a model makes of those before."""


def read_prompts(path: Path, tokenizer: str, vocabulary: int) -> list[list[int]]:
    """The tokens of each prompt. `tokenizer` is a file, "" for none; `vocabulary` how many tokens there are, 0 where nobody knows.
    Raises BadGolden with one sentence."""
    if not path.is_file():
        raise BadGolden(f"{path} is no file of prompts; give {FORMS}")
    try:
        lines = [(number, line) for number, line in enumerate(path.read_text("utf-8").splitlines(), 1) if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadGolden(f"{path} cannot be read ({error}); save it as UTF-8") from None
    said = [_said(path, number, line) for number, line in lines]
    if not said:
        raise BadGolden(f"{path} holds no prompt; give {FORMS}")
    if any(isinstance(one, str) for one in said):
        encoder = _tokenizer(path, tokenizer)
        said = [list(encoder.encode(one).ids) if isinstance(one, str) else one for one in said]
    for (number, _), ids in zip(lines, said, strict=True):
        if len(ids) < FEWEST:
            raise BadGolden(f"{path}, line {number}: the prompt has {len(ids)} tokens; give {FEWEST} and more")
        odd = next((one for one in ids if one < 0 or (vocabulary and one >= vocabulary)), None)
        if odd is not None:
            raise BadGolden(
                f"{path}, line {number}: there is no token {odd}: the model knows 0 to {vocabulary - 1}; is this the tokenizer of "
                "another model?"
            )
    return said


def _said(path: Path, number: int, line: str) -> Any:
    if path.suffix == ".txt":
        return line
    try:
        value = json.loads(line)
    except ValueError:
        raise BadGolden(f"{path}, line {number} is not JSON; give {FORMS}") from None
    if isinstance(value, dict):
        value = value.get("ids", value.get("text"))
    ids = isinstance(value, list) and all(isinstance(one, int) and not isinstance(one, bool) for one in value)
    if not ids and not isinstance(value, str):
        raise BadGolden(f"{path}, line {number} is neither token numbers nor a text; give {FORMS}")
    return value


def _tokenizer(path: Path, tokenizer: str) -> Any:
    if not tokenizer:
        raise BadGolden(
            f"{path} holds text, and what makes tokens of it is not said; add --tokenizer tokenizer.json, or give token numbers"
        )
    if not Path(tokenizer).is_file():
        raise BadGolden(f"the tokenizer {tokenizer} is no file; give the tokenizer.json of the model")
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise BadGolden(
            'text becomes tokens by the package tokenizers, which is not installed; pip install "assay[prompts]", or give token numbers'
        ) from None
    try:
        return Tokenizer.from_file(tokenizer)
    except Exception as error:  # noqa: BLE001  the package raises plain Exception
        raise BadGolden(f"{tokenizer} is no tokenizer ({error}); give the tokenizer.json of the model") from None
