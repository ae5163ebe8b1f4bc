"""Cases shared out so that each share takes as long as the others, by how long each case took before."""

from __future__ import annotations

import hashlib
import heapq
import json
import statistics
from collections.abc import Collection, Mapping


def balanced(cases: Collection[str], seconds: Mapping[str, float], total: int) -> dict[str, int]:
    """The share of each case, from 1, by what each took; one that is not known takes the median. The longest first, ties by the digest
    of the name, each to the share that has least (LPT; Graham, SIAM J. Appl. Math. 17, 1969). The same on every machine that has the
    same cases and seconds."""
    shares = [(0.0, 0, number) for number in range(1, total + 1)]
    median = statistics.median(seconds.values()) if seconds else 1.0
    taken = {name: seconds.get(name, median) for name in cases}
    share_by_case = {}
    for name, took in sorted(taken.items(), key=lambda item: (-item[1], name_digest(item[0]))):
        before, count, number = heapq.heappop(shares)
        share_by_case[name] = number
        heapq.heappush(shares, (before + took, count + 1, number))
    return share_by_case


def split_digest(share_by_case: Mapping[str, int]) -> str:
    """What shards of one run have alike where they shared out the same cases in the same way."""
    return hashlib.sha256(json.dumps(sorted(share_by_case.items())).encode()).hexdigest()[:16]


def name_digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()
