"""Where in the model the nodes of known defects stand and are wrong alone: one defect may do so at several places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.triage.cause import Pattern
from assay.triage.context import Whole
from assay.triage.graph import Places
from assay.triage.known_causes import occurrences
from assay.triage.localize import Suspect, wrong_windows


@dataclass(frozen=True)
class Sites:
    """What stands as the patterns of one defect have it, the gravest first; `pattern` is one of them."""

    pattern: Pattern
    suspects: tuple[Suspect, ...]

    @property
    def places(self) -> Places:
        """Of all of them."""
        return frozenset().union(*(suspect.places for suspect in self.suspects))


async def wrong_sites(whole: Whole, patterns: Sequence[Pattern], avoid: Places) -> list[Sites]:
    """All that is wrong, apart from what touches `avoid`; each place is of the pattern that says most of it. A defect may have several."""
    stands: dict[Places, list[Pattern]] = {}
    for pattern in patterns:
        for occurrence in occurrences(whole.graph, pattern):
            places = whole.graph.closed(occurrence)
            if not places & avoid:
                stands.setdefault(places, []).append(pattern)
    by_pattern: dict[tuple[str, str], tuple[Pattern, list[Suspect]]] = {}
    for suspect in await wrong_windows(whole.graph, whole.prober, list(stands)):
        fit = [candidate for candidate in stands[suspect.places] if candidate.symptom in ("", suspect.symptom.kind)]
        if not fit:
            continue
        pattern = narrowest(fit)
        by_pattern.setdefault((pattern.folder, pattern.title), (pattern, []))[1].append(suspect)
    return [Sites(pattern, tuple(sorted(each, key=_gravity))) for pattern, each in by_pattern.values()]


def _gravity(suspect: Suspect) -> float:
    return -(suspect.symptom.budget or suspect.symptom.size)


def narrowest(patterns: Sequence[Pattern]) -> Pattern:
    """Of those that stand at one place: a defect of more nodes, or of more attributes, is not that of fewer."""
    return max(patterns, key=lambda pattern: (len(pattern.operators), sum(map(len, pattern.attributes))))
