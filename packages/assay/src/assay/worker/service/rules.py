"""What a service must keep whatever the model: limits, stop strings, streams, seeds, text and tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.core.finding import Finding
from assay.ports.prompts import Completion, ContinuesPrompts, PromptService
from assay.worker.service.asking import GENERATED, places_of
from assay.worker.service.broken_rule import broken
from assay.worker.service.oracle import Oracle, Prompt
from assay.worker.service.places import Place

_TEXTS = ("The Value is a Mapping", "  two spaces, é and \u2603 \u2603")
_MESSAGES = (
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "What is a tuple?"},
    {"role": "assistant", "content": "A sequence."},
    {"role": "user", "content": "And a list?"},
)
Answers = Sequence[tuple[Prompt, Completion]]


def text_rules(service: PromptService, tokenizer: Any, answers: Answers) -> Iterator[Finding]:
    """Of the texts that it generated, and of the same asked once more, streamed and stopped."""
    for start, whole in answers:
        count = len(whole.ids) if whole.ids is not None else whole.generated
        if whole.finish != "stop" and count is not None and count != GENERATED:
            yield broken("limit", GENERATED, count)
        if count == GENERATED and whole.finish != "length":
            yield broken("reason", "length", whole.finish)
        if whole.ids is not None and tokenizer is not None:
            expected = _text_behind(tokenizer, start, whole.ids)
            if whole.text != expected:
                yield broken("text", expected, whole.text)
        streamed = service.complete(start, GENERATED, stream=True)
        if streamed.text != whole.text and streamed.ids in (None, whole.ids):
            yield broken("stream", whole.text, streamed.text)
        elif whole.ids is not None and streamed.ids is not None and len(streamed.ids) != len(whole.ids):
            yield broken("limit", len(whole.ids), len(streamed.ids))
        yield from _stops(service, start, whole)


def _text_behind(tokenizer: Any, start: Prompt, ids: Prompt) -> str:
    """What `ids` add to the text: decoders such as Metaspace drop a space where a text begins, and behind a prompt none begins. Where the
    prompt ends in the middle of a character, the text of the tokens alone."""
    before, whole = str(tokenizer.decode(list(start))), str(tokenizer.decode([*start, *ids]))
    return whole.removeprefix(before) if whole.startswith(before) else str(tokenizer.decode(list(ids)))


def _stops(service: PromptService, start: Prompt, whole: Completion) -> Iterator[Finding]:
    middle = len(whole.text) // 2
    stop = whole.text[middle : middle + 3]
    if len(stop) < 3 or "\ufffd" in stop:
        return
    expected = whole.text[: whole.text.index(stop)]
    for stream in (False, True):
        completion = service.complete(start, GENERATED, stop=[stop], stream=stream)
        if completion.text != expected:
            yield broken("stop", expected, completion.text)
        elif completion.finish != "stop":
            yield broken("reason", "stop", completion.finish)


def seed_rules(service: PromptService, oracle: Oracle) -> Iterator[Finding]:
    """One seed gives one text, and others give others."""
    start = oracle.prompts[0][:4]
    texts = [service.complete(start, 12, temperature=1.0, seed=seed, shown=False).text for seed in (1, 1, 2, 3)]
    if texts[0] != texts[1]:
        yield broken("repeat", texts[0], texts[1])
    elif len(set(texts)) == 1:
        yield broken("seeds", "", texts[0])


def token_rules(service: PromptService, oracle: Oracle, tokenizer: Any) -> tuple[list[Finding], list[Place]]:
    """Text becomes the tokens that the tokenizer makes of it."""
    findings: list[Finding] = []
    places: list[Place] = []
    known = [(text, tuple(tokenizer.encode(text).ids)) for text in _TEXTS]
    known += [(tokenizer.decode(list(prompt)), prompt) for prompt in oracle.prompts[:2]]
    known = [(text, ids) for text, ids in known if tuple(tokenizer.encode(text).ids) == ids and ids]
    oracle.learn(ids for _, ids in known)
    for text, ids in known:
        answer = service.complete(text, 1)
        if answer.prompt_tokens not in (None, len(ids)):
            findings.append(broken("prompt_tokens", len(ids), answer.prompt_tokens or 0))
        places += places_of("text", 0, ids, answer, oracle)
    return findings, places


def chat_rules(engine: ContinuesPrompts, service: PromptService, oracle: Oracle) -> tuple[list[Finding], list[Place]]:
    """A chat becomes the text that its template makes of it, special tokens included: the tokenizer adds none."""
    findings: list[Finding] = []
    places: list[Place] = []
    for messages in (_MESSAGES, _MESSAGES[-1:]):
        ids = tuple(engine.tokenizer.encode(engine.chat_text(messages), add_special_tokens=False).ids)
        answer = service.chat(messages, 1)
        oracle.learn([ids])
        if answer.prompt_tokens not in (None, len(ids)):
            findings.append(broken("chat_tokens", len(ids), answer.prompt_tokens or 0))
        places += places_of("chat", 0, ids, answer, oracle)
    return findings, places
