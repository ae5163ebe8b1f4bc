"""What a service must keep whatever the model: limits, stop strings, streams, seeds, draws, text and tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from assay.core.finding import Fact, Finding, FindingCode, facts
from assay.ports.prompts import Completion, ContinuesPrompts, PromptService
from assay.worker.service.asking import CLIENTS, GENERATED
from assay.worker.service.oracle import Oracle, Prompt
from assay.worker.service.places import Place

_TEXTS = ("The Value is a Mapping", "  two spaces, é and \u2603 \u2603")
_MESSAGES = (
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "What is a tuple?"},
    {"role": "assistant", "content": "A sequence."},
    {"role": "user", "content": "And a list?"},
)
_SIMULATED, _ALARM, _EXPECTED = 20000, 1e-4, 5.0
Answers = Sequence[tuple[Prompt, Completion]]


def broken(rule: str, expected: Fact, actual: Fact) -> Finding:
    """That rule is."""
    return Finding("service", "text", FindingCode.SERVICE_RULE, facts(rule=rule, expected=expected, actual=actual))


def text_rules(service: PromptService, tokenizer: Any, answers: Answers) -> Iterator[Finding]:
    """Of the texts that it generated, and of the same asked once more, streamed and stopped."""
    for start, whole in answers:
        count = len(whole.ids) if whole.ids is not None else whole.generated
        if whole.finish != "stop" and count is not None and count != GENERATED:
            yield broken("limit", GENERATED, count)
        if count == GENERATED and whole.finish != "length":
            yield broken("reason", "'length'", repr(whole.finish))
        if whole.ids is not None and tokenizer is not None and whole.text != tokenizer.decode(list(whole.ids)):
            yield broken("text", repr(tokenizer.decode(list(whole.ids))), repr(whole.text))
        streamed = service.complete(start, GENERATED, stream=True)
        if streamed.text != whole.text and streamed.ids in (None, whole.ids):
            yield broken("stream", repr(whole.text), repr(streamed.text))
        elif whole.ids is not None and streamed.ids is not None and len(streamed.ids) != len(whole.ids):
            yield broken("limit", len(whole.ids), len(streamed.ids))
        yield from _stops(service, start, whole)


def _stops(service: PromptService, start: Prompt, whole: Completion) -> Iterator[Finding]:
    middle = len(whole.text) // 2
    stop = whole.text[middle : middle + 3]
    if len(stop) < 3 or "\ufffd" in stop:
        return
    expected = whole.text[: whole.text.index(stop)]
    for stream in (False, True):
        found = service.complete(start, GENERATED, stop=[stop], stream=stream)
        if found.text != expected:
            yield broken("stop", repr(expected), repr(found.text))
        elif found.finish != "stop":
            yield broken("reason", "'stop'", repr(found.finish))


def seed_rules(service: PromptService, oracle: Oracle) -> Iterator[Finding]:
    """One seed gives one text, and others give others."""
    start = oracle.prompts[0][:4]
    texts = [service.complete(start, 12, temperature=1.0, seed=seed, shown=False).text for seed in (1, 1, 2, 3)]
    if texts[0] != texts[1]:
        yield broken("repeat", repr(texts[0]), repr(texts[1]))
    elif len(set(texts)) == 1:
        yield broken("seeds", "texts that differ", repr(texts[0]))


def draw_rules(service: PromptService, oracle: Oracle, draws: int) -> tuple[list[Finding], dict[str, float]]:
    """Pearson's statistic of tokens that were drawn, against its distribution in 20,000 simulated samples; a correct service is beyond
    the bound in 1 of 10,000 checks. The power is that for a temperature of 1.3."""
    start = oracle.prompts[0]
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(
            clients.map(lambda seed: service.complete(start, 1, temperature=1.0, seed=1000 + seed), range(draws))
        )
    drawn = [answer.ids[0] for answer in answers if answer.ids]
    if not drawn:
        return [], {}
    logs = oracle.logs(start)
    right, hotter = np.exp(logs), np.exp(logs / 1.3)
    hotter /= hotter.sum()
    own = np.flatnonzero(right * len(drawn) >= _EXPECTED)
    cells = np.array([*right[own], 1 - right[own].sum()])
    others = np.array([*hotter[own], 1 - hotter[own].sum()])
    counts = np.array([*(drawn.count(int(token)) for token in own), 0])
    counts[-1] = len(drawn) - counts.sum()
    random = np.random.default_rng(11)

    def statistic(seen: Any) -> Any:
        return ((seen - len(drawn) * cells) ** 2 / (len(drawn) * cells)).sum(axis=-1)

    bound = float(np.quantile(statistic(random.multinomial(len(drawn), cells, _SIMULATED)), 1 - _ALARM))
    power = float(np.mean(statistic(random.multinomial(len(drawn), others, 2000)) > bound))
    seen = float(statistic(counts))
    findings = [broken("draws", f"at most {bound:.4g}", f"{seen:.4g} in {len(drawn)} draws")] if seen > bound else []
    return findings, {"draw_statistic": seen, "draw_bound": bound, "draw_power": power}


def token_rules(service: PromptService, oracle: Oracle, tokenizer: Any) -> tuple[list[Finding], list[Place]]:
    """Text becomes the tokens that the tokenizer makes of it."""
    findings, places = [], []
    known = [(text, tuple(tokenizer.encode(text).ids)) for text in _TEXTS]
    known += [(tokenizer.decode(list(prompt)), prompt) for prompt in oracle.prompts[:2]]
    known = [(text, ids) for text, ids in known if tuple(tokenizer.encode(text).ids) == ids and ids]
    oracle.learn(ids for _, ids in known)
    for text, ids in known:
        answer = service.complete(text, 1)
        if answer.prompt_tokens not in (None, len(ids)):
            findings.append(broken("prompt_tokens", len(ids), answer.prompt_tokens or 0))
        if answer.tops and answer.tops[0]:
            places.append(Place("text", 0, ids, answer.tops[0], answer.ids[0] if answer.ids else None))
    return findings, places


def chat_rules(engine: ContinuesPrompts, oracle: Oracle) -> tuple[list[Finding], list[Place]]:
    """A chat becomes the text that its template makes of it."""
    findings, places = [], []
    for messages in (_MESSAGES, _MESSAGES[-1:]):
        ids = tuple(engine.tokenizer.encode(engine.chat_text(messages)).ids)
        answer = engine.service.chat(messages, 1)
        oracle.learn([ids])
        if answer.prompt_tokens not in (None, len(ids)):
            findings.append(broken("chat_tokens", len(ids), answer.prompt_tokens or 0))
        if answer.tops and answer.tops[0]:
            places.append(Place("chat", 0, ids, answer.tops[0], answer.ids[0] if answer.ids else None))
    return findings, places
