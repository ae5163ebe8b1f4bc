"""What is asked of a service shows a planted fault, and a right service passes: by the thinnest way that sees it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.backends.endpoint import PromptEndpoint
from assay.core.finding import Finding
from assay.core.flow import Flow
from assay.endpoints.openai import OpenAi
from assay.judge.words.finding_text import finding_text
from assay.ports.prompts import PromptService
from assay.worker.service.asking import alone, generated, together
from assay.worker.service.draw_distribution import draw_rules
from assay.worker.service.oracle import Oracle
from assay.worker.service.places import blind, budget, difference, judge_all
from assay.worker.service.rules import chat_rules, seed_rules, text_rules, token_rules
from language_model import FAULTS
from served_model import MODEL, TEMPLATE, TOKENIZER, client, oracle, serving

DOCS = Path(__file__).parents[4] / "docs"


def _tokenizer() -> object:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(TOKENIZER))


def _differs(places: list, oracle: Oracle) -> list[Finding]:
    difference_found = difference(judge_all(places, oracle))
    return [difference_found] if difference_found is not None else []


def _alone(service: PromptService, oracle: Oracle) -> list[Finding]:
    return _differs(alone(service, oracle), oracle)


def _together(service: PromptService, oracle: Oracle) -> list[Finding]:
    return _differs(together(service, oracle), oracle)


def _generated(service: PromptService, oracle: Oracle) -> list[Finding]:
    return _differs(generated(service, oracle)[0], oracle)


def _texts(service: PromptService, oracle: Oracle) -> list[Finding]:
    return list(text_rules(service, _tokenizer(), generated(service, oracle)[1]))


def _seeds(service: PromptService, oracle: Oracle) -> list[Finding]:
    return list(seed_rules(service, oracle))


def _draws(service: PromptService, oracle: Oracle) -> list[Finding]:
    return draw_rules(service, oracle, 120)[0]


def _tokens(service: PromptService, oracle: Oracle) -> list[Finding]:
    findings, places = token_rules(service, oracle, _tokenizer())
    return [*findings, *_differs(places, oracle)]


def _chat(service: OpenAi, oracle: Oracle) -> list[Finding]:
    options = {"url": service.address, "tokenizer": str(TOKENIZER), "chat_template": str(TEMPLATE)}
    engine = PromptEndpoint().lower(MODEL, Flow("served", "openai", options))
    findings, places = chat_rules(engine, service, oracle)
    return [*findings, *_differs(places, oracle)]


WAYS = (_alone, _together, _generated, _texts, _seeds, _draws, _tokens, _chat)
SHOWS: dict[str, tuple[Callable[[PromptService, Oracle], list[Finding]], str]] = {
    "head-int8": (_alone, "one request at a time"),
    "stale-prefix": (_alone, "a beginning that an earlier prompt shares"),
    "chunk-position": (_alone, "one request at a time"),
    "batch-leak": (_together, "beside others at the same time"),
    "padding-leak": (_together, "beside others at the same time"),
    "cache-off-by-one": (_generated, "as a text goes on that it generates"),
    "stale-slot": (_generated, "as a text goes on that it generates"),
    "draft-accepted": (_generated, "as a text goes on that it generates"),
    "draft-cache": (_generated, "as a text goes on that it generates"),
    "stop-kept": (_texts, "a stop string does not end the text where it should"),
    "stream-last": (_texts, "asked for a number of tokens it generates another: expected 24, got 23"),
    "text-space": (_texts, "its text is not that of its tokens"),
    "limit-one-more": (_texts, "asked for a number of tokens it generates another: expected 24, got 25"),
    "seed-ignored": (_seeds, "one seed gives two texts"),
    "sampler-temperature": (_draws, "as probable as at another temperature"),
    "tokenizer-case": (_tokens, "its tokenizer"),
    "template-system": (_chat, "the template makes"),
}


SLOW = (
    "head-int8",
    "chunk-position",
    "batch-leak",
    "stale-slot",
    "stream-last",
    "text-space",
    "limit-one-more",
    "seed-ignored",
    "tokenizer-case",
    "stop-kept",
    "template-system",
    "sampler-temperature",
)


@pytest.mark.parametrize(
    "fault", [pytest.param(show, marks=[pytest.mark.slow] if show in SLOW else []) for show in SHOWS]
)
def test_a_fault_is_shown_by_its_way(fault: str) -> None:
    way, sentence = SHOWS[fault]
    with serving(fault) as address:
        finding = way(client(address), oracle())
    assert finding
    assert sentence in " ".join(map(finding_text, finding))


@pytest.mark.heavy
@pytest.mark.parametrize("drafted", [0, 4])
def test_a_right_service_passes_in_every_way(drafted: int) -> None:
    """With speculative decoding as without."""
    with serving(drafted=drafted) as address:
        service = client(address)
        right = oracle()
        assert [way.__name__ for way in WAYS if way(service, right)] == []


def test_more_tokens_than_asked_for_are_no_places_of_the_oracle() -> None:
    with serving("limit-one-more") as address:
        assert _alone(client(address), oracle()) == []


def test_answers_of_another_place_would_not_pass() -> None:
    right = oracle()
    with serving() as address:
        places = judge_all(alone(client(address), right), right)
    assert 0.0 < budget(places) < 0.5
    assert blind(places, right) == []
    right.noise[:] = 1e3  # a tolerance that lets everything pass is told
    right._noise.clear()
    assert blind(judge_all([judged.place for judged in places], right), right) == ["alone", "again", "branched"]


@pytest.mark.slow
def test_without_log_probabilities_the_tokens_are_judged_by_the_margin_of_the_oracle() -> None:
    with serving("mask-loses-previous", troubles=("no-logprobs",)) as address:
        assert "the log-probability" in finding_text(_alone(client(address), oracle())[0])
    with serving(troubles=("no-logprobs",)) as address:
        assert _alone(client(address), oracle()) == []


@pytest.mark.slow
def test_an_endless_answer_is_ended_and_told() -> None:
    with serving(troubles=("endless",)) as address:
        findings = _texts(client(address), oracle())
    assert findings[0].facts["rule"] == "limit"


def test_each_control_of_the_docs_is_planted() -> None:
    """What must change nothing has a fault that shows it: here, or in a graph (`language_model.FAULTS`)."""
    text = (DOCS / "language-models.md").read_text("utf-8").split("## What must change nothing")[1].split("\n## ")[0]
    controls = [line.rsplit("|", 2)[1] for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(controls) == 13
    served = {line for cell in controls for line in re.findall("`([^`]+)`", cell)}
    graphs = {line for cell in controls for line in re.findall('"([^"]+)"', cell)}
    assert len(served) > 12
    assert served <= SHOWS.keys()
    assert graphs == FAULTS.keys() - {"", "sees the next token"}
