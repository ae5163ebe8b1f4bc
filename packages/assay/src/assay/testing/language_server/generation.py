"""One request for text, from its fields to tokens as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.testing.language_server.batcher import Batcher, Generation, Token
from assay.testing.language_server.sampling import Sampler
from assay.testing.language_server.small_tokenizer import Pieces, Words


class Refused(Exception):
    """A request that cannot be answered, with its status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Piece:
    """A token with the text that it brings."""

    token: Token
    text: str


class Answer:
    """What is generated for one prompt."""

    def __init__(
        self, words: Words, faults: frozenset[str], body: Mapping[str, Any], ids: list[int], context: int
    ) -> None:
        stop = body.get("stop") or ()
        self.words, self.faults, self.ids = words, faults, ids
        self.most = int(body.get("max_tokens") or body.get("max_completion_tokens") or 16)
        if len(ids) + self.most > context:
            raise Refused(
                400,
                f"This model's maximum context length is {context} tokens. However, you requested {self.most} output tokens and your "
                f"prompt contains {len(ids)} input tokens.",
            )
        if not ids:
            raise Refused(400, "the prompt is empty")
        self.pieces = Pieces(words, [stop] if isinstance(stop, str) else list(stop), faults)
        temperature = body.get("temperature")
        self.sampler = Sampler(1.0 if temperature is None else float(temperature), body.get("seed"), faults)
        self.reason, self.made = "length", 0

    async def run(self, batcher: Batcher) -> AsyncIterator[Piece]:
        """Pieces as they come; the request ends with whoever stops listening."""
        queue: asyncio.Queue[Token | None] = asyncio.Queue()
        loop, wanted = asyncio.get_running_loop(), [True]

        def emit(token: Token | None) -> bool:
            loop.call_soon_threadsafe(queue.put_nowait, token)
            return wanted[0]

        most = self.most + ("limit-one-more" in self.faults)
        batcher.add(Generation(self.words.fed(self.ids), most, self.sampler, emit))
        try:
            while (token := await queue.get()) is not None:
                self.made += 1
                text = self.pieces.add(token.number)
                if self.made == most and not self.pieces.stopped and "stream-bytes" not in self.faults:
                    text += self.pieces.rest()
                yield Piece(token, text)
                if self.pieces.stopped:
                    self.reason = "stop"
                    return
        finally:
            wanted[0] = False
            if "finish-reason" in self.faults:
                self.reason = "stop"

    @property
    def usage(self) -> dict[str, int]:
        """Tokens of prompt and answer."""
        prompt = len(self.ids) - ("usage" in self.faults)
        return {"prompt_tokens": prompt, "completion_tokens": self.made, "total_tokens": prompt + self.made}
