"""Completions as OpenAI's API has them. https://platform.openai.com/docs/api-reference/completions

Servers add to it what is needed to tell tokens apart: `return_tokens_as_token_ids` and `return_token_ids` are vLLM's, the `id` of a token
beside its text llama.cpp's; where a server has none, the tokenizer of the model names tokens by their text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.endpoints.connection import Connection
from assay.errors import EndpointBroke, UsageError
from assay.ports.prompts import Completion, Top

_BY_NUMBER = "token_id:"
_LARGEST_TOKEN = 1 << 31
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
            raise UsageError(f"the tokenizer {tokenizer} is no file; give the tokenizer.json of the model")
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(tokenizer)
        names = [self.tokenizer.decode([number]) for number in range(self.tokenizer.get_vocab_size())]
        counts = Counter(names)
        self._numbers = {name: number for number, name in enumerate(names) if counts[name] == 1}

    def number(self, name: str) -> int | None:
        """None where nobody can say which token that is."""
        if name.startswith(_BY_NUMBER) and name.removeprefix(_BY_NUMBER).isdigit():
            return int(name.removeprefix(_BY_NUMBER))
        return self._numbers.get(name)


class OpenAi:
    """A model of a server. `most` is how many log-probabilities are asked for at each place."""

    def __init__(self, connection: Connection, model: str, vocabulary: Vocabulary, most: int = 5) -> None:
        self._connection, self._vocabulary, self._most = connection, vocabulary, most
        self.address = connection.address
        known = [str(one.get("id")) for one in _listed(connection.get("/models"), "data")]
        self.model = model or (known[0] if known else "")
        if known and self.model not in known:
            raise UsageError(
                f"{connection.address} serves no model {self.model!r}; it serves {', '.join(known[:5])}: choose with --option model=NAME"
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
        """Raises EndpointBroke for what is no completion: lists for tables, texts for numbers."""
        try:
            return self._read(bodies)
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise EndpointBroke(
                f"{self.address} gave a completion that cannot be read ({error}): is it OpenAI's protocol that it speaks?"
            ) from None

    def _read(self, bodies: Sequence[Any]) -> Completion:
        pieces, ids, tops, reason = [], [], [], ""
        known = True
        usage: dict[str, Any] = {}
        for body in bodies:
            usage = (body.get("usage") if isinstance(body, dict) else None) or usage
            for choice in _listed(body, "choices"):
                message = choice.get("message") or choice.get("delta") or {}
                pieces.append(str(choice.get("text", message.get("content")) or ""))
                reason = str(choice.get("finish_reason") or reason)
                found = self._tokens(choice)
                known = known and found is not None
                ids += found or []
                tops += self._tops(choice)
        if not ids and usage.get("completion_tokens"):
            known = False  # there are some, and it does not say which
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
        return Completion("".join(pieces), tuple(ids) if known else None, tuple(tops), reason, *counts, tuple(pieces))

    def _tokens(self, choice: Mapping[str, Any]) -> list[int] | None:
        """None where the server does not say which tokens it generated."""
        if choice.get("token_ids") is not None:
            found = [int(one) for one in choice["token_ids"]]
            if odd := [one for one in found if abs(one) > _LARGEST_TOKEN]:
                raise ValueError(f"no vocabulary has a token {odd[0]:.3g}")
            return found
        said = choice.get("logprobs") or {}
        names = said.get("tokens")
        if names is None:
            names = [_name(one) for one in said.get("content") or ()]
        if not names:
            message = choice.get("message") or choice.get("delta") or {}
            return [] if not choice.get("text", message.get("content")) and choice.get("finish_reason") else None
        numbers = [self._vocabulary.number(str(name)) for name in names]
        return None if None in numbers else [one for one in numbers if one is not None]

    def _tops(self, choice: Mapping[str, Any]) -> list[Top]:
        said = choice.get("logprobs") or {}
        if "content" in said:
            rows = [
                {_name(one): one["logprob"] for one in row.get("top_logprobs", ())} for row in said["content"] or ()
            ]
        else:
            rows = [row or {} for row in said.get("top_logprobs") or ()]
        return [self._numbered(row) for row in rows]

    def _numbered(self, row: Mapping[str, Any]) -> Top:
        named = {
            self._vocabulary.number(str(name)): math.nan if value is None else float(value)
            for name, value in row.items()  # JSON has no NaN: servers say null
        }
        return {number: value for number, value in named.items() if number is not None}


def _name(said: Mapping[str, Any]) -> str:
    """By its number, where the server tells it beside the text, as that of llama.cpp does."""
    number = said.get("id")
    return str(said.get("token")) if number is None else f"{_BY_NUMBER}{number}"


def _listed(body: Any, name: str) -> list[Any]:
    found = body.get(name) if isinstance(body, dict) else None
    if not isinstance(found, list):
        raise EndpointBroke(f"the service answered without {name!r}: is it OpenAI's protocol that it speaks?")
    return found
