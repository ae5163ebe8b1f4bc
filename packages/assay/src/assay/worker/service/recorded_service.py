"""A service whose answers are kept, so that each of them is looked at: too short ones are findings, and empty ones prove nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.core.finding import Finding
from assay.core.note import Note, NoteCode, noted
from assay.ports.prompts import Completion, DecodesPrompts, PromptService
from assay.worker.service.broken_rule import broken


@dataclass(frozen=True)
class Record:
    """What was asked, and the answer. `prompt` is None for a text; `greedy`: the most probable tokens."""

    prompt: tuple[int, ...] | None
    tokens: int
    greedy: bool
    stops: bool
    stream: bool
    answer: Completion


class RecordedService:
    """Asks another service; from any thread."""

    def __init__(self, service: PromptService) -> None:
        self._service = service
        self.records: list[Record] = []

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
        """As it is asked."""
        answer = self._service.complete(
            prompt, tokens, temperature=temperature, seed=seed, stop=stop, stream=stream, shown=shown
        )
        numbers = None if isinstance(prompt, str) else tuple(prompt)
        self.records.append(Record(numbers, tokens, temperature == 0.0, bool(stop), stream, answer))
        return answer

    def chat(self, messages: Sequence[Mapping[str, str]], tokens: int) -> Completion:
        """As it is asked."""
        answer = self._service.chat(messages, tokens)
        self.records.append(Record(None, tokens, True, False, False, answer))
        return answer


class RecordedDecoder(RecordedService):
    """Of a library in this process."""

    def __init__(self, service: DecodesPrompts) -> None:
        super().__init__(service)
        self._decoder = service

    def forget(self) -> None:
        """The next prompt is read whole."""
        self._decoder.forget()

    def complete_together(self, prompts: Sequence[Sequence[int]], tokens: int) -> Sequence[Completion]:
        """As it is asked."""
        answers = self._decoder.complete_together(prompts, tokens)
        self.records += [
            Record(tuple(prompt), tokens, True, False, False, answer)
            for prompt, answer in zip(prompts, answers, strict=True)
        ]
        return answers


def recorded(service: PromptService) -> RecordedService:
    """With the abilities that it has."""
    return RecordedDecoder(service) if isinstance(service, DecodesPrompts) else RecordedService(service)


def short_answers(records: Sequence[Record]) -> list[Finding]:
    """The first that has fewer tokens than were asked for, and does not say that its text was over."""
    for record in records:
        count = generated_tokens(record.answer)
        if not record.stops and record.answer.finish != "stop" and count is not None and count < record.tokens:
            return [broken("limit", record.tokens, count)]
    return []


def empty_answers(records: Sequence[Record]) -> Note | None:
    """None where none is. A text that is over at once shows no token that could be judged."""
    looked_at = [record for record in records if not record.stops]
    empty = sum(generated_tokens(record.answer) == 0 for record in looked_at)
    return noted(NoteCode.ANSWERS_EMPTY, empty=empty, count=len(looked_at)) if empty else None


def generated_tokens(answer: Completion) -> int | None:
    """None where nobody says how many."""
    if answer.ids is not None:
        return len(answer.ids)
    if answer.generated is None and not answer.text:
        return 0
    return answer.generated
