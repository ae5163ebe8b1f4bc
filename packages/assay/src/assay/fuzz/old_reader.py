"""Whether an engine reads an operator as it was before a version: all that the version brought is ignored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from assay.core.screening import IGNORED


def ignored_of(ablated: Mapping[str, bool]) -> set[str]:
    """Attributes and inputs that the engine was seen not to read ("Shape.start", "Clip input min")."""
    return {name.removeprefix(IGNORED) for name, right in ablated.items() if right and name.startswith(IGNORED)}


def is_all_of_a_version(operator: str, names: Iterable[str]) -> bool:
    """Whether these are all the optional attributes and inputs that one version of the operator brought, in the form that it has them."""
    named = {*names}
    return len(named) > 1 and any(named == group for group in _brought(operator))


@cache
def _brought(operator: str) -> tuple[frozenset[str], ...]:
    """What each version but the first brought, the oldest first: the first has none before it."""
    from assay.generators.schemas import LATEST, NotMade, optional_names, schema_at

    seen, groups = set[str](), []
    for opset in range(1, LATEST + 1):
        try:
            names = optional_names(schema_at(operator, opset))
        except NotMade:
            continue
        groups.append(frozenset(names - seen))
        seen |= names
    return tuple(groups[1:])
