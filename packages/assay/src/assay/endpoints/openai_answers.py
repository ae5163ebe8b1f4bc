"""What a server answers by OpenAI's protocol: the types and ranges of all that is read of it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Token = Annotated[int, Meta(ge=0, lt=1 << 31)]
"""No vocabulary is larger."""
Count = Annotated[int, Meta(ge=0, lt=1 << 53)]


class Listed(Struct):
    """A model of the server."""

    id: str


class Models(Struct):
    """The answer of /models."""

    data: list[Listed]


class Named(Struct, kw_only=True):
    """A token by its text, and by its number, where the server tells it beside the text, as that of llama.cpp does."""

    token: str | None = None
    id: Token | None = None


class Ranked(Named, kw_only=True):
    """One of the most probable tokens. JSON has no NaN: servers say null."""

    logprob: float | None


class Place(Named, kw_only=True):
    """A token of a chat."""

    top_logprobs: list[Ranked] | None = None


class LogProbabilities(Struct):
    """Of a chat in `content`, of other completions in the other two."""

    content: list[Place] | None = None
    tokens: list[str] | None = None
    top_logprobs: list[dict[str, float | None] | None] | None = None


class Message(Struct):
    """Of a chat, or a piece of one."""

    content: str | None = None


class Choice(Struct):
    """What was generated, or a piece of it."""

    text: str | None = None
    message: Message | None = None
    delta: Message | None = None
    finish_reason: str | None = None
    token_ids: list[Token] | None = None
    logprobs: LogProbabilities | None = None

    @property
    def said(self) -> str:
        """In whichever field it stands."""
        message = self.message or self.delta or Message()
        return self.text or message.content or ""


class Usage(Struct):
    """How many tokens there were."""

    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None


class Answer(Struct):
    """A completion, or an event of one."""

    choices: list[Choice]
    usage: Usage | None = None
