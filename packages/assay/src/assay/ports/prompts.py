"""An engine that is a service which continues prompts: what it gives is text and the log-probabilities of tokens, no tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from assay.core.flow import Option
from assay.ports.engine import Engine

Top = dict[int, float]
"""Log-probabilities by token, of the most probable ones."""


@dataclass(frozen=True)
class Completion:
    """What was generated. `ids` are known where the server or the tokenizer tells; `tops` where it gives log-probabilities."""

    text: str
    ids: tuple[int, ...] | None
    tops: tuple[Top, ...]
    finish: str
    prompt_tokens: int | None
    generated: int | None
    pieces: tuple[str, ...] = ()


class PromptService(Protocol):
    """A model of a server."""

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
        """`tokens` at most, behind the prompt; with log-probabilities where they are to be `shown`."""
        ...

    def chat(self, messages: Sequence[Mapping[str, str]], tokens: int) -> Completion:
        """The most probable answer to these messages."""
        ...


@runtime_checkable
class DecodesPrompts(PromptService, Protocol):
    """A library in this process, that is given numbers: it has no text, streams or stop strings. Prompts beside one another are one batch,
    and what it keeps of a prompt is told apart from what it reads again."""

    def forget(self) -> None:
        """The next prompt is read whole."""
        ...

    def complete_together(self, prompts: Sequence[Sequence[int]], tokens: int) -> Sequence[Completion]:
        """The most probable tokens behind each, with log-probabilities."""
        ...


@runtime_checkable
class ContinuesPrompts(Engine, Protocol):
    """Such an engine is verified by prompts (`assay.worker.service`), not by its tensors."""

    @property
    def service(self) -> PromptService: ...

    @property
    def tokenizer(self) -> Any:
        """Of the package tokenizers; None where none was named."""
        ...

    @property
    def settings(self) -> Mapping[str, Option]:
        """`draws` and `chat_template`."""
        ...

    def chat_text(self, messages: Sequence[Mapping[str, str]]) -> str:
        """What the chat template makes of these messages, the answer opened."""
        ...
