"""What a service must keep whatever the model: limits, stop strings, streams, seeds, draws, text and tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from assay.core.finding import Finding
from assay.ports.prompts import Completion, ContinuesPrompts, PromptService
from assay.worker.service.asking import CLIENTS, GENERATED, places_of
from assay.worker.service.findings import broken
from assay.worker.service.oracle import Oracle, Prompt
from assay.worker.service.places import Place

_TEXTS = ("The Value is a Mapping", "  two spaces, é and \u2603 \u2603")
_MESSAGES = (
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "What is a tuple?"},
    {"role": "assistant", "content": "A sequence."},
    {"role": "user", "content": "And a list?"},
)
_SIMULATED, _ALARM, _EXPECTED, _STARTS = 20000, 5e-5, 5.0, 4
_AWAY = 4.5
"""Standard errors: less than 1 in 100,000 by chance, with room for a mean of few hundred draws that is not quite normal."""
Answers = Sequence[tuple[Prompt, Completion]]


def text_rules(service: PromptService, tokenizer: Any, answers: Answers) -> Iterator[Finding]:
    """Of the texts that it generated, and of the same asked once more, streamed and stopped."""
    for start, whole in answers:
        count = len(whole.ids) if whole.ids is not None else whole.generated
        if whole.finish != "stop" and count is not None and count != GENERATED:
            yield broken("limit", GENERATED, count)
        if count == GENERATED and whole.finish != "length":
            yield broken("reason", "'length'", repr(whole.finish))
        if whole.ids is not None and tokenizer is not None:
            expected = _text_behind(tokenizer, start, whole.ids)
            if whole.text != expected:
                yield broken("text", repr(expected), repr(whole.text))
        streamed = service.complete(start, GENERATED, stream=True)
        if streamed.text != whole.text and streamed.ids in (None, whole.ids):
            yield broken("stream", repr(whole.text), repr(streamed.text))
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
    """Pearson's statistic of tokens that were drawn behind the halves of some prompts, all together, against its distribution in 20,000
    simulated samples; a correct service is beyond the bound in 1 of 10,000 checks. The power is that for a temperature of 1.3. There are
    no metrics where nothing could be judged. A prompt behind which a text may be over at once is left out: what remains there are no
    draws of the whole distribution."""
    starts = [prompt[: max(1, len(prompt) // 2)] for prompt in oracle.prompts[:_STARTS]]
    each = draws // max(1, len(starts))
    asked = [start for start in starts for _ in range(each)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        # Each draw has a seed of its own: those of one seed are not independent.
        draw = partial(service.complete, tokens=1, temperature=1.0)
        answers = list(clients.map(lambda place: draw(asked[place], seed=1000 + place), range(len(asked))))
    findings = _no_draws(answers, len(oracle.logs(starts[0])))
    by_start = [(start, answers[number * each : (number + 1) * each]) for number, start in enumerate(starts)]
    drawn = [
        (start, [one.ids[0] for one in some if one.ids]) for start, some in by_start if all(one.ids for one in some)
    ]
    if findings or not each or not drawn:
        return findings, {}
    random = np.random.default_rng(11)
    seen, right, hotter = 0.0, np.zeros(_SIMULATED), np.zeros(_SIMULATED)
    for start, tokens in drawn:
        statistic, cells, others = _pearson(oracle.logs(start), tokens)
        seen += statistic
        right += _statistics(random.multinomial(len(tokens), cells, _SIMULATED), cells, len(tokens))
        hotter += _statistics(random.multinomial(len(tokens), others, _SIMULATED), cells, len(tokens))
    count = sum(len(tokens) for _, tokens in drawn)
    bound = float(np.quantile(right, 1 - _ALARM))
    findings += [broken("draws", f"at most {bound:.4g}", f"{seen:.4g} in {count} draws")] if seen > bound else []
    away, hot = _surprise([(oracle.logs(start), tokens) for start, tokens in drawn])
    if abs(away) > _AWAY:
        findings.append(broken("temperature", f"at most {_AWAY} standard errors away", f"{away:+.3g} in {count} draws"))
    power = max(float(np.mean(hotter > bound)), NormalDist().cdf(abs(hot) - _AWAY))
    return findings, {"draw_statistic": seen, "draw_bound": bound, "draw_away": away, "draw_power": power}


def _no_draws(answers: Sequence[Completion], vocabulary: int) -> list[Finding]:
    """Answers without a token, where no text is over, and tokens that the model does not have."""
    found = []
    if any(one.ids == () and one.finish != "stop" for one in answers):
        found.append(broken("limit", 1, 0))
    foreign = [one.ids[0] for one in answers if one.ids and not 0 <= one.ids[0] < vocabulary]
    if foreign:
        found.append(broken("draws", f"tokens below {vocabulary}", f"token {foreign[0]}"))
    return found


def _surprise(drawn: Sequence[tuple[Any, Sequence[int]]]) -> tuple[float, float]:
    """How far the mean log-probability of what was drawn is from that of right draws, in standard errors, and how far it would be at a
    temperature of 1.3: it is what tells temperatures apart best (Neyman and Pearson 1933)."""
    seen = right = hot = spread = 0.0
    for row, tokens in drawn:
        weights, hotter = np.exp(row), np.exp(row / 1.3)
        mean = float(weights @ row)
        seen += sum(float(row[token]) for token in tokens)
        right += len(tokens) * mean
        hot += len(tokens) * float(hotter @ row) / float(hotter.sum())
        spread += len(tokens) * float(weights @ (row - mean) ** 2)
    error = max(spread**0.5, 1e-9)
    return (seen - right) / error, (hot - right) / error


def _pearson(logs: Any, drawn: Sequence[int]) -> tuple[float, Any, Any]:
    """The statistic, the probabilities of its cells, and those at a temperature of 1.3: tokens that are expected often enough have a cell
    each, all others one together."""
    right, hotter = np.exp(logs), np.exp(logs / 1.3)
    hotter /= hotter.sum()
    own = np.flatnonzero(right * len(drawn) >= _EXPECTED)
    cells = np.array([*right[own], max(0.0, 1 - right[own].sum())])
    others = np.array([*hotter[own], max(0.0, 1 - hotter[own].sum())])
    counts = np.array([*(drawn.count(int(token)) for token in own), 0])
    counts[-1] = len(drawn) - counts.sum()
    return float(_statistics(counts, cells, len(drawn))), cells, others


def _statistics(seen: Any, cells: Any, draws: int) -> Any:
    return ((seen - draws * cells) ** 2 / np.maximum(draws * cells, 1e-9)).sum(axis=-1)


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
