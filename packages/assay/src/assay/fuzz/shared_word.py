"""Whether two operators may be wrong by one word of an attribute: SAME_LOWER of a Conv and of a MaxPool is read by one piece of code, or
by two."""

from __future__ import annotations

from collections.abc import Iterable

from assay.fuzz.corpus import Bucket
from assay.fuzz.cures import cures


def words(attributes: Iterable[str]) -> set[str]:
    """Those with a word, without the operator ("auto_pad=SAME_LOWER"). A flag is none: each operator has its own."""
    named = {attribute.partition(".")[2] for attribute in attributes}
    return {name for name in named if not name.partition("=")[2].isdigit() and "=" in name}


def of_one_word(bucket: Bucket, other: Bucket) -> bool:
    """Both are right without it."""
    return bool(_that_decide(bucket) & _that_decide(other))


def _that_decide(bucket: Bucket) -> set[str]:
    cured = cures(bucket)
    return words(name for name in bucket.attributes if name.partition("=")[0] in cured)
