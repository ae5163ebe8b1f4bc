"""Completions as OpenAI's API has them. https://platform.openai.com/docs/api-reference/completions

Servers add to it what is needed to tell tokens apart: `return_tokens_as_token_ids` and `return_token_ids` are vLLM's, the `id` of a token
beside its text llama.cpp's; where a server has none, the tokenizer of the model names tokens by their text.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.core.note import noted
from assay.core.refusals.data_codes import DataCode
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.endpoints.connection import Connection
from assay.endpoints.openai_answers import Answer, Choice, LogProbabilities, Models, Named, Token, Usage
from assay.endpoints.readable import readable
from assay.errors import UsageError
from assay.ports.prompts import Completion, Top

_PROTOCOL = "OpenAI's protocol"
_BY_NUMBER = re.compile("token_id:(-?[0-9]+)")
_WHOLE = {"top_p": 1.0, "top_k": 0, "min_p": 0.0}
"""Draws are to be those of the whole distribution: servers cut it unasked (llama.cpp's; vLLM's by generation_config.json)."""


class Vocabulary:
    """Tokens by the text that each gives alone; those that share a text are left out."""

    def __init__(self, tokenizer: str) -> None:
        self.tokenizer: Any = None
        self._numbers: dict[str, int] = {}
        if not tokenizer:
            return
        if not Path(tokenizer).is_file():
            raise UsageError(noted(DataCode.TOKENIZER_NO_FILE, file=tokenizer))
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(tokenizer)
        names = [self.tokenizer.decode([number]) for number in range(self.tokenizer.get_vocab_size())]
        counts = Counter(names)
        self._numbers = {name: number for number, name in enumerate(names) if counts[name] == 1}

    def number(self, name: str) -> int | None:
        """None where nobody can say which token that is. Raises ValidationError for a number that no token has."""
        if (by_number := _BY_NUMBER.fullmatch(name)) is not None:
            return msgspec.convert(by_number[1], Token, strict=False)
        return self._numbers.get(name)


class OpenAi:
    """A model of a server. `most` is how many log-probabilities are asked for at each place."""

    def __init__(self, connection: Connection, model: str, vocabulary: Vocabulary, most: int = 5) -> None:
        self._connection, self._vocabulary, self._most = connection, vocabulary, most
        self.address = connection.address
        with readable(connection.address, _PROTOCOL):
            known = [model_entry.id for model_entry in msgspec.convert(connection.get("/models"), Models).data]
        self.model = model or (known[0] if known else "")
        if known and self.model not in known:
            raise UsageError(
                noted(
                    EndpointCode.MODEL_NOT_SERVED,
                    address=connection.address,
                    model=self.model,
                    models=tuple(known[:5]),
                )
            )

    def complete(
        self,
        prompt: str | Sequence[int],
        tokens: int,
        *,
        temperature: float = 0.0,
        seed: int | None = None,
        stop: Sequence[str] = (),
        stream: bool = False,
        shown: bool = True,
    ) -> Completion:
        """`tokens` at most, behind the prompt."""
        body: dict[str, Any] = {
            "model": self.model,
            "prompt": prompt if isinstance(prompt, str) else list(prompt),
            "max_tokens": tokens,
            "temperature": temperature,
            "return_tokens_as_token_ids": True,
            "return_token_ids": True,
        }
        body |= _WHOLE if temperature else {}
        body |= {"seed": seed} if seed is not None else {}
        body |= {"stop": list(stop)} if stop else {}
        body |= {"logprobs": self._most} if shown else {}
        if not stream:
            return self._of([self._connection.post("/completions", body)])
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        return self._of([*self._connection.stream("/completions", body, 2 * tokens + 8)])

    def chat(self, messages: Sequence[Mapping[str, str]], tokens: int) -> Completion:
        """The most probable answer to these messages."""
        body = {
            "model": self.model,
            "messages": list(messages),
            "max_tokens": tokens,
            "temperature": 0.0,
            "logprobs": True,
            "top_logprobs": self._most,
            "return_tokens_as_token_ids": True,
            "return_token_ids": True,
        }
        return self._of([self._connection.post("/chat/completions", body)])

    def _of(self, bodies: Sequence[Any]) -> Completion:
        with readable(self.address, _PROTOCOL):
            return self._read([msgspec.convert(body, Answer) for body in bodies])

    def _read(self, answers: Sequence[Answer]) -> Completion:
        pieces, ids, tops, reason = [], [], [], ""
        known = True
        usage = Usage()
        for answer in answers:
            usage = answer.usage or usage
            for choice in answer.choices:
                pieces.append(choice.said)
                reason = choice.finish_reason or reason
                choice_tokens = self._tokens(choice)
                known = known and choice_tokens is not None
                ids += choice_tokens or []
                tops += self._tops(choice.logprobs or LogProbabilities())
        if not ids and usage.completion_tokens:
            known = False  # there are some, and it does not say which
        counts = (usage.prompt_tokens, usage.completion_tokens)
        return Completion("".join(pieces), tuple(ids) if known else None, tuple(tops), reason, *counts, tuple(pieces))

    def _tokens(self, choice: Choice) -> list[int] | None:
        """None where the server does not say which tokens it generated."""
        if choice.token_ids is not None:
            return choice.token_ids
        shown = choice.logprobs or LogProbabilities()
        if shown.tokens is not None:
            numbers = [self._vocabulary.number(name) for name in shown.tokens]
        else:
            numbers = [self._number(place) for place in shown.content or ()]
        if not numbers:
            return [] if not choice.said and choice.finish_reason else None
        return None if None in numbers else [number for number in numbers if number is not None]

    def _number(self, named: Named) -> int | None:
        return named.id if named.id is not None or named.token is None else self._vocabulary.number(named.token)

    def _tops(self, shown: LogProbabilities) -> list[Top]:
        if shown.content is not None:
            places = [
                [(self._number(logprob), logprob.logprob) for logprob in place.top_logprobs or ()]
                for place in shown.content
            ]
        else:
            rows = [row or {} for row in shown.top_logprobs or ()]
            places = [[(self._vocabulary.number(name), value) for name, value in row.items()] for row in rows]
        return [
            {number: math.nan if value is None else value for number, value in place if number is not None}
            for place in places
        ]
