"""A file of prompts as token numbers: given as such, or as text and the tokenizer of the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.core.note import Note, noted
from assay.core.refusals.data_codes import DataCode
from assay.errors import BadGolden

PROMPTS = (".jsonl", ".txt")
FEWEST = 2
"""Tokens of a prompt: the first alone shows nothing of what a model makes of those before."""


def read_prompts(path: Path, tokenizer: str, vocabulary: int) -> list[list[int]]:
    """The tokens of each prompt. `tokenizer` is a file, "" for none; `vocabulary` how many tokens there are, 0 where nobody knows.
    Raises BadGolden with one sentence."""
    if not path.is_file():
        raise BadGolden(noted(DataCode.PROMPTS_NO_FILE, file=str(path)))
    try:
        lines = [(number, line) for number, line in enumerate(path.read_text("utf-8").splitlines(), 1) if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadGolden(noted(DataCode.PROMPTS_NOT_READ, file=str(path), error=str(error))) from None
    prompts = [_said(path, number, line) for number, line in lines]
    if not prompts:
        raise BadGolden(noted(DataCode.PROMPTS_EMPTY, file=str(path)))
    if any(isinstance(prompt, str) for prompt in prompts):
        encoder = _tokenizer(path, tokenizer)
        prompts = [list(encoder.encode(prompt).ids) if isinstance(prompt, str) else prompt for prompt in prompts]
    for (number, _), ids in zip(lines, prompts, strict=True):
        where = noted(DataCode.LINE, file=str(path), line=number)
        if len(ids) < FEWEST:
            raise BadGolden(noted(DataCode.PROMPT_SHORT, where=where, tokens=len(ids), fewest=FEWEST))
        demand_tokens(where, ids, vocabulary)
    return prompts


def demand_tokens(where: str | Note, ids: Sequence[int], vocabulary: int) -> None:
    """Raises BadGolden for a token that a model of so many (0: nobody knows) has not."""
    for token in ids:
        if token < 0:
            raise BadGolden(noted(DataCode.TOKEN_NEGATIVE, where=where, token=token))
        if 0 < vocabulary <= token:
            raise BadGolden(noted(DataCode.TOKEN_UNKNOWN, where=where, token=token, last=vocabulary - 1))


def _said(path: Path, number: int, line: str) -> Any:
    if path.suffix == ".txt":
        return line
    where = noted(DataCode.LINE, file=str(path), line=number)
    try:
        value = json.loads(line)
    except ValueError:
        raise BadGolden(noted(DataCode.PROMPT_NO_JSON, where=where)) from None
    if isinstance(value, dict):
        value = value.get("ids", value.get("text"))
    ids = isinstance(value, list) and all(isinstance(token, int) and not isinstance(token, bool) for token in value)
    if not ids and not isinstance(value, str):
        raise BadGolden(noted(DataCode.PROMPT_OTHER, where=where))
    return value


def _tokenizer(path: Path, tokenizer: str) -> Any:
    if not tokenizer:
        raise BadGolden(noted(DataCode.TOKENIZER_NOT_GIVEN, file=str(path)))
    if not Path(tokenizer).is_file():
        raise BadGolden(noted(DataCode.TOKENIZER_NO_FILE, file=tokenizer))
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise BadGolden(noted(DataCode.TOKENIZERS_NOT_INSTALLED)) from None
    try:
        return Tokenizer.from_file(tokenizer)
    except Exception as error:  # noqa: BLE001  the package raises plain Exception
        raise BadGolden(noted(DataCode.TOKENIZER_NOT_READ, file=tokenizer, error=str(error))) from None
