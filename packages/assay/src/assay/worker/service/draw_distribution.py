"""Draws of a service that samples: are they distributed as the model says?"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from assay.core.finding import Finding
from assay.ports.prompts import Completion, PromptService
from assay.worker.service.asking import CLIENTS
from assay.worker.service.broken_rule import broken
from assay.worker.service.oracle import Oracle, Prompt

_SIMULATED, _ALARM, _EXPECTED, _STARTS = 20000, 5e-5, 5.0, 4
_AWAY = 4.5
"""Standard errors: less than 1 in 100,000 by chance, with room for a mean of few hundred draws that is not quite normal."""
_RARE = 1e-5
"""Chance of a count of repeated tokens that a correct service gives."""


def draw_rules(service: PromptService, oracle: Oracle, draws: int) -> tuple[list[Finding], dict[str, float]]:
    """Pearson's statistic of tokens that were drawn behind beginnings of some prompts, all together, against its distribution in 20,000
    simulated samples; a correct service is beyond the bound in 1 of 10,000 checks. The power is that for a temperature of 1.3. There are
    no metrics where nothing could be judged. A prompt behind which a text may be over at once is left out: what remains there are no
    draws of the whole distribution."""
    starts = [_start(prompt, oracle) for prompt in oracle.prompts[:_STARTS]]
    each = draws // max(1, len(starts))
    asked = [start for start in starts for _ in range(each)]
    with ThreadPoolExecutor(CLIENTS) as clients:
        # Each draw has a seed of its own: those of one seed are not independent.
        draw = partial(service.complete, tokens=1, temperature=1.0)
        answers = list(clients.map(lambda place: draw(asked[place], seed=1000 + place), range(len(asked))))
    findings = _no_draws(answers, len(oracle.logs(starts[0])))
    by_start = [(start, answers[number * each : (number + 1) * each]) for number, start in enumerate(starts)]
    drawn = [
        (start, [completion.ids[0] for completion in some if completion.ids])
        for start, some in by_start
        if all(completion.ids for completion in some)
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
    findings += [broken("draws", bound, float(seen), draws=count)] if seen > bound else []
    away, hot = _surprise([(oracle.logs(start), tokens) for start, tokens in drawn])
    if abs(away) > _AWAY:
        findings.append(broken("temperature", _AWAY, float(away), draws=count))
    findings += _repetition([(start, oracle.logs(start), tokens) for start, tokens in drawn])
    power = max(float(np.mean(hotter > bound)), NormalDist().cdf(abs(hot) - _AWAY))
    return findings, {"draw_statistic": seen, "draw_bound": bound, "draw_away": away, "draw_power": power}


def _start(prompt: Prompt, oracle: Oracle) -> Prompt:
    """The beginning behind which it is least sure whether a token of the beginning comes again: what rules on repetition change most."""

    shares = []
    known = oracle.all_logs(prompt)
    seen = np.zeros(len(known[0]), bool)
    for token, logs in zip(prompt, known, strict=False):
        seen[token] = True
        share = float(np.exp(logs[seen]).sum())
        shares.append(share * (1 - share))
    return prompt[: 1 + int(np.argmax(shares))]


def _mass(start: Prompt, logs: Any) -> float:
    """The probability that a token of the beginning comes next."""
    return float(np.exp(logs[sorted(set(start))]).sum())


def _repetition(drawn: Sequence[tuple[Prompt, Any, Sequence[int]]]) -> list[Finding]:
    """How many draws stand in their prompts already, against the exact distribution of that count: a sum of draws of two outcomes."""
    seen, chances, due = 0, np.ones(1), 0.0
    for start, logs, tokens in drawn:
        share = min(1.0, _mass(start, logs))
        seen += sum(token in start for token in tokens)
        due += len(tokens) * share
        for _ in tokens:
            chances = np.convolve(chances, (1 - share, share))
    if min(float(chances[: seen + 1].sum()), float(chances[seen:].sum())) >= _RARE / 2:
        return []
    return [broken("repetition", float(due), int(seen), draws=len(chances) - 1)]


def _no_draws(answers: Sequence[Completion], vocabulary: int) -> list[Finding]:
    """Answers without a token, where no text is over, and tokens that the model does not have."""
    findings = []
    if any(answer.ids == () and answer.finish != "stop" for answer in answers):
        findings.append(broken("limit", 1, 0))
    foreign = [answer.ids[0] for answer in answers if answer.ids and not 0 <= answer.ids[0] < vocabulary]
    if foreign:
        findings.append(broken("vocabulary", vocabulary, foreign[0]))
    return findings


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
