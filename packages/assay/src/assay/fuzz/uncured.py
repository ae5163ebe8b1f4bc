"""Of two suspects of the same operators that nothing makes right, or of which nothing was tried: whether they fail alike."""

from __future__ import annotations

from assay.core.screening import FED, FULL, NOT_TYPE, SCALES
from assay.fuzz.corpus import Bucket
from assay.fuzz.cures import cures, unsigned
from assay.fuzz.suspect_pattern import ENDED, GRID, family


def fail_alike(bucket: Bucket, other: Bucket) -> bool:
    """Of two that nothing makes right: whether one experiment at least left both wrong. Where none was made of one that ended its process,
    the signal and the attributes have to be the same, and what the other is cured of has to be there."""
    if family(bucket.kind) in ENDED:
        alike = family(bucket.kind) != "crash" or bucket.signal == other.signal
        cured = _has_what_is_cured(bucket, other) and _has_what_is_cured(other, bucket)
        return alike and cured and _that_matter(bucket, other) == _that_matter(other, bucket)
    return not ({*map(unsigned, bucket.ablated)} - {FED, FULL}).isdisjoint(map(unsigned, other.ablated))


def _has_what_is_cured(cured: Bucket, other: Bucket) -> bool:
    """Whether the other has all that the one is right without: a type, quantizers, an attribute. Of inputs nobody knows."""
    types = {dtype.removeprefix("u") for dtype in other.dtypes}
    stated = {name.partition("=")[0] for name in other.attributes}
    for name in cures(cured):
        if name.startswith((NOT_TYPE, "type ")):
            is_there = name.split()[-1].removeprefix("u") in types
        elif name == SCALES:
            is_there = not GRID.isdisjoint(operator.partition("@")[0] for operator in other.operators)
        else:
            is_there = name in stated or name.startswith("pass ")
        if not is_there:
            return False
    return True


def _that_matter(bucket: Bucket, other: Bucket) -> set[str]:
    """Attributes of the first, less those without which one of the two is as wrong."""
    needless = {name for tried in (bucket, other) for name, right in tried.ablated.items() if not right}
    return {name for name in bucket.attributes if name.partition("=")[0] not in needless}
