"""Two patterns that differ in one operator: is the case of the one as wrong with the operator of the other? Asked where no other experiment
says whether they are one cause."""

from __future__ import annotations

from collections.abc import Iterable
from tempfile import TemporaryDirectory

from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.result import ScreenResult
from assay.core.screening import AS_KIN
from assay.fuzz.corpus import Bucket, Corpus, is_compared
from assay.fuzz.operator_forms import are_kin
from assay.fuzz.screening import screen_kept
from assay.fuzz.suspect_pattern import ANSWERS, family, plain, replaced
from assay.pipeline.adapters import Services

MOST = 6
"""Operators that are tried of one case."""


def with_swaps(bucket: Bucket, others: Iterable[Bucket], flow: Flow, corpus: Corpus, services: Services) -> Bucket:
    """With what came of the operators of the others in the place of its own, by all operators ("as Expand+Add")."""
    from assay.generators.files import keep_case, read_case
    from assay.generators.other_operators import with_operator

    if not (wanted := _wanted(bucket, others)):
        return bucket
    case = read_case(corpus.suspects(flow.name).absolute() / bucket.first)
    with TemporaryDirectory(prefix="swapped-", dir=corpus.folder.absolute()) as name:
        folder = corpus.folder.absolute() / name
        made = ((other, with_operator(case, plain(bucket.operators), other)) for other in wanted)
        tried = {other: changed for other, changed in made if changed is not None}
        places = [
            keep_case(changed, folder, str(place)).with_suffix("") for place, changed in enumerate(tried.values())
        ]
        result = screen_kept(places, 0, flow, folder / "suspects", services) if places else None
    if not isinstance(result, ScreenResult):  # the process ended: that says nothing of a wrong answer
        return bucket
    swapped = list(tried)
    came = {swapped[place]: True for place in result.right}
    for suspect in result.suspects:
        other = swapped[suspect.case.index]
        is_whole = plain(suspect.operators) == other  # and no smaller part of it
        if is_whole and family(suspect.kind) == family(bucket.kind):
            came[other] = False
    return replace(bucket, ablated=bucket.ablated | {AS_KIN + "+".join(other): right for other, right in came.items()})


def _wanted(bucket: Bucket, others: Iterable[Bucket]) -> list[tuple[str, ...]]:
    """Operators of those that differ from it in one, and fail alike; those that are made alike first."""
    if family(bucket.kind) not in ANSWERS or not bucket.first:
        return []
    near = dict[tuple[str, ...], bool]()
    for other in others:
        two = replaced(bucket.operators, other.operators)
        is_like = is_compared(other) and other.backend == bucket.backend and family(other.kind) == family(bucket.kind)
        if two is not None and is_like and AS_KIN + "+".join(plain(other.operators)) not in bucket.ablated:
            near[plain(other.operators)] = are_kin(*two)
    return sorted(near, key=lambda operators: not near[operators])[:MOST]
