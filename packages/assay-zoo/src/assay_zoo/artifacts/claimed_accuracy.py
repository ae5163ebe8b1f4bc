"""What the author's own words say of the accuracy of this model, and the metadata do not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay_zoo.metadata import Metadata
from assay_zoo.readme import Difference, own_sections

_CLAUSE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n|[;|]|\n(?=\s*[-*+#] )")
_OWN = re.compile(
    r"\b(?:this|our|the (?:final|published|exported|present)) (?:model|network|net|classifier|detector|regressor)\b|\bthe model\b|\bwe\b"
    r"|\bit (?:reaches|achieves|has|gets|attains|scores|obtains)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:train\w*|baselines?|original\w*|paper|teacher|reported by|others?|previous\w*|earlier|older|float\w*|fp\d+|quanti[sz]\w*|before"
    r"|compared|versus|vs|than|if|could|would|should|may|might|goal|target|at least|up to|about|around|above|below|over|under|more|less"
    r"|class(?:es)?|fold\w*|subset|night|noise|noisy|best|worst|average over|per|only on|small|validation split"
    r"|on (?!(?:the )?(?:test|validation|data))\w+)\b",
    re.IGNORECASE,
)
"""Of other models, of a part of the data, or no claim at all: nobody compares such a number."""
_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:[.,]\d+)?)(?![\w,]|\.\d)\s*(%|percent\b|per cent\b)?", re.IGNORECASE)
_OF_NAMES = re.compile(r"\b(?:top|rank)[- ]?\d+\b|\bf-?1\b|@\s?(?:0?\.)?\d+(?:[-:]0?\.\d+)?", re.IGNORECASE)
"""Numbers that are part of a metric's name."""
_GENERAL = ("top", "mean", "test", "score", "value", "macro", "micro", "weighted")


def other_accuracy(text: str, metadata: Metadata) -> Iterator[Difference]:
    """Each clause of the own sections of a readme that says of this model, by the name of the metric, another number."""
    claim = metadata.accuracy
    parts = [word.rstrip("0123456789") for word in re.split(r"[\W_]+", claim.metric.lower())]
    words = [word for word in parts if len(word) > 2 and word not in _GENERAL]
    named = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\d*\b", re.IGNORECASE) if words else None
    own = own_sections(text)
    at = 0
    for clause in _CLAUSE_END.split(own) if named else ():
        begin = own.find(clause, at) if clause else at
        at = begin + len(clause)
        plain = " ".join(clause.split())
        if not (named and named.search(plain) and _OWN.search(plain)) or _OTHERS.search(plain):
            continue
        numbers = [
            (match[1].replace(",", "."), bool(match[2]))
            for match in _NUMBER.finditer(_OF_NAMES.sub("", named.sub("", plain)))
        ]
        if len(numbers) == 1 and not _is_claim(*numbers[0], claim.value, claim.tolerance):
            yield Difference(
                own.count("\n", 0, begin) + 1,
                f"says {plain[:100]!r}, and metadata.toml that {claim.metric} is {claim.value:g}",
            )


def _is_claim(written: str, is_percent: bool, value: float, tolerance: float) -> bool:
    """Whether a number, as it is rounded, may be what is claimed, be it a fraction or percents."""
    number, digits = float(written), len(written.partition(".")[2])
    scales = (0.01,) if is_percent else (1.0, 0.01)
    return any(abs(number * scale - value) <= tolerance + 0.5 * scale * 10.0**-digits + 1e-12 for scale in scales)
