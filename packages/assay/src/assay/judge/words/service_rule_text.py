"""The words for each rule that a service breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from assay.core.finding import Fact


class RuleText(NamedTuple):
    """`broken` says what it does, in words that follow "breaks a rule"; the others what was expected of it and what it gave."""

    broken: str
    expected: str = "{expected!r}"
    actual: str = "{actual!r}"


RULES = {
    "limit": RuleText("asked for a number of tokens it generates another"),
    "reason": RuleText("it names another reason for the end of its text"),
    "stop": RuleText("a stop string does not end the text where it should"),
    "stream": RuleText("the pieces of a stream do not join to the whole text"),
    "text": RuleText("its text is not that of its tokens"),
    "repeat": RuleText("one seed gives two texts"),
    "seeds": RuleText("all seeds give one text", "texts that differ"),
    "draws": RuleText(
        "what it draws is not distributed as the model says: the statistic is beyond its bound",
        "at most {expected:.4g}",
        "{actual:.4g} in {draws} draws",
    ),
    "vocabulary": RuleText(
        "it draws a token that the model does not have", "tokens below {expected}", "token {actual}"
    ),
    "temperature": RuleText(
        "what it draws is as probable as at another temperature: the mean log-probability is off",
        "at most {expected:g} standard errors away",
        "{actual:+.3g} in {draws} draws",
    ),
    "repetition": RuleText(
        "tokens that stand in the prompt are drawn more or less often than the model says",
        "about {expected:.4g}",
        "{actual} of {draws} draws",
    ),
    "prompt_tokens": RuleText("it counts other tokens in a text than its tokenizer makes"),
    "chat_tokens": RuleText("it counts other tokens in a chat than the template makes"),
}
"""By name of the rule, which a worker records with its numbers."""


def rule_words(facts: Mapping[str, Fact]) -> dict[str, object]:
    """What the sentence of a broken rule says."""
    rule = RULES[str(facts["rule"])]
    return {name: text.format(**facts) for name, text in rule._asdict().items()}
