"""What the author's own words say of the accuracy of this model, and the metadata do not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay_zoo.artifacts.pages.shown_text import shown_text
from assay_zoo.metadata import Claim, Metadata
from assay_zoo.readme import Difference, own_sections

_CLAUSE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n|;|\n(?=\s*(?:[-*+#] |\|))|(?<=\|)[ \t]*\n")
_OWN = re.compile(
    r"\b(?:this|our|the (?:final|published|exported|present)) (?:model|network|net|classifier|detector|regressor)\b|\bthe model\b|\bwe\b"
    r"|\bit (?:reaches|achieves|has|gets|attains|scores|obtains)\b",
    re.IGNORECASE,
)
"""Where they stand a whole number is a claim, too."""
_OTHERS = re.compile(
    r"\b(?:train\w*|baselines?|original\w*|paper|teacher|reported by|others?|previous\w*|earlier|older|float\w*|fp\d+|quanti[sz]\w*|before"
    r"|compared|versus|vs|than|if|could|would|should|may|might|goal|target|at least|up to|about|around|above|below|over|under|more|less"
    r"|los[est]\w*|drops?|dropped|gain\w*|improv\w*"
    r"|threshold\w*|within|chance|random\w*|human\w*|class(?:es)?|fold\w*|subset|night|noise|noisy|best|worst|average over|per"
    r"|only on|small|validation split"
    r"|on (?!(?:the )?(?:test|validation|data|held))\w+)\b",
    re.IGNORECASE,
)
"""Of other models, of a part of the data, or no claim at all: nobody compares such a number."""
_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:[.,]\d+)?)(?![\w,]|\.\d)\s*(%|percent\b|per cent\b)?", re.IGNORECASE)
_TEXT = r"(?P<number>(?<![\w.,])\d{1,3}(?:[.,]\d+)?(?![\w,]|\.\d))\s*(?P<percent>%|percent\b|per cent\b)?"
_ABOVE = r"(?P<above>(?:more than|over|above|at least|>=?|≥) ?)?"
_UNIT = r"(?=\s*(?:$|[^\w\s]|(?:on|for|and|in|at|after|with)\b|(?![MkxX]\b)\w{1,4}(?:$|\W)))"
_BESIDE = (
    re.compile(
        r"\0(?: (?:score|value|rate))?(?:(?: (?:of|on|for) (?:the|this|our)(?: [\w-]+){1,3}?)? ?(?:is|was|of|:|=|\||reaches|equals)| ) ?"
        rf"(?:\| ?|just |exactly |only )?{_ABOVE}{_TEXT}{_UNIT}",
        re.IGNORECASE,
    ),
    re.compile(rf"{_ABOVE}{_TEXT} (?:(?:overall|mean|test|validation|final) )?\0", re.IGNORECASE),
)
"""A number that is said of the metric, whose name is a zero here."""
_OF_NAMES = re.compile(r"\b(?:top|rank)[- ]?\d+\b|@\s?(?:0?\.)?\d+(?:[-:]0?\.\d+)?", re.IGNORECASE)
"""Numbers that are part of a metric's name."""
_QUALIFIED = re.compile(
    r"\b(?:(?P<word>balanced|weighted|macro|micro)"
    r"|(?:top|rank)[- ]?(?P<rank>\d+))(?:[- ]averaged?)?[- ]\0",
    re.IGNORECASE,
)
_GENERAL = ("top", "mean", "test", "score", "value", "macro", "micro", "weighted", "balanced")


def other_accuracy(text: str, metadata: Metadata) -> Iterator[Difference]:
    """Each clause or row of the own sections of a readme that says another number of the metric."""
    claim = metadata.accuracy
    named = _named(claim.metric)
    own = own_sections(text)
    at, heading, header = 0, "", ""
    for clause in _CLAUSE_END.split(own) if named else ():
        begin = own.find(clause, at) if clause else at
        is_row = clause.lstrip().startswith("|")
        header = (header or clause) if is_row and not own[at:begin].count("\n\n") else clause if is_row else ""
        at = begin + len(clause)
        heading = clause if clause.lstrip().startswith("#") else heading
        plain = " ".join(shown_text(clause).split())
        if named and _is_other(named.sub("\0", plain), claim, f"{heading} {header if header != clause else ''}"):
            yield Difference(
                own.count("\n", 0, begin) + 1,
                f"says {plain[:100]!r}, and metadata.toml that {claim.metric} is {claim.value:g}",
            )


def _named(metric: str) -> re.Pattern[str] | None:
    """Its name in words, by itself or written out: `wer` is a word error rate."""
    names = [re.escape(metric.lower())] if re.search(r"[\W_]", metric) else []
    for part in re.split(r"[\W_]+", metric.lower()):
        word = part.rstrip("0123456789")
        if re.fullmatch(r"[a-z]\d", part):
            names.append(f"{part[0]}-?{part[1]}")
        elif len(word) > 2 and word not in _GENERAL:
            names.append(rf"{re.escape(word)}\d*")
            names += [r"[- ]".join(rf"{letter}\w+" for letter in word)] if len(word) < 5 and word.isalpha() else []
    return re.compile(rf"\b(?:{'|'.join(names)})\b", re.IGNORECASE) if names else None


def _is_other(words: str, claim: Claim, around: str) -> bool:
    """Whether a clause, a zero in place of the metric, says a number that cannot be that of the claim."""
    metric = claim.metric.lower()
    for match in _QUALIFIED.finditer(words):
        rank = re.search(r"(?:top|rank)\D?(\d+)", metric)
        if match["rank"] != (rank[1] if rank else "1") if match["rank"] else match["word"].lower() not in metric:
            return False
    words = " ".join(_OF_NAMES.sub("", words).split())
    said = [match for pattern in _BESIDE for match in pattern.finditer(words)]
    spans = {match.span("number") for match in said}
    exact = [match for match in _NUMBER.finditer(words) if match[2] or not match[1].isdigit()]
    if len(spans) != 1 or any(match.span(1) not in spans for match in exact) or (not exact and not _OWN.search(words)):
        return False
    number = said[0]
    rest = words[: number.start()] + (number[0].replace(number["above"], "") if number["above"] else number[0])
    if _OTHERS.search(f"{rest}{words[number.end() :]}") or _OTHERS.search(around):
        return False
    if number["above"]:
        return _least(number, claim.value) > claim.value + claim.tolerance
    return not any(
        _is_claim(written, bool(number["percent"]), claim.value, claim.tolerance) for written in _readings(number)
    )


def _readings(number: re.Match[str]) -> list[str]:
    """A comma before three digits may part thousands."""
    written = number["number"]
    return [written.replace(",", "."), *([written.replace(",", "")] if re.search(r",\d{3}$", written) else [])]


def _least(number: re.Match[str], value: float) -> float:
    least = float(_readings(number)[0])
    return least * 0.01 if number["percent"] or (value <= 1 < least) else least


def _is_claim(written: str, is_percent: bool, value: float, tolerance: float) -> bool:
    """Whether a number, as it is rounded, may be what is claimed, be it a fraction or percents."""
    number, digits = float(written), len(written.partition(".")[2])
    scales = (0.01,) if is_percent else (1.0, 0.01)
    return any(abs(number * scale - value) <= tolerance + 0.5 * scale * 10.0**-digits + 1e-12 for scale in scales)
