"""All that runs leave in the user's cache for later ones, and the one bound on it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from assay.commands.environments import CONFIG
from assay.core.result import Result
from assay.core.result_parts import facts_of
from assay.errors import UsageError
from assay.judge.outcome_table import REFUSALS
from assay.models.cache_eviction import MOST_BYTES, Entry, compiled, evict


def sizes() -> dict[str, list[Entry]]:
    """By what they are. Environments have a command of their own."""
    from assay.models import named_sources
    from assay.models.artifacts import Artifacts, artifacts_folder
    from assay.suites.cache import weighed as made

    return {
        "lowered artifacts": list(Artifacts(artifacts_folder()).weighed()),
        "made cases": list(made()),
        "folders of Inductor": list(compiled()),
        "named models": list(named_sources.weighed()),
    }


def most_bytes() -> int:
    """As ./assay.toml says, where there is one. Raises BadPolicy."""
    from assay.config.assay_toml import load_config

    return load_config(CONFIG).cache_bytes if CONFIG.is_file() else MOST_BYTES


def enforce_cache_limit_after_check(results: Iterable[Result]) -> None:
    """Where one of them may have added its refusal to the cache: nothing else is kept of a check."""
    if any(one.outcome in REFUSALS and not facts_of(one).reused for one in results):
        enforce_cache_limit()


def enforce_cache_limit() -> None:
    """At the end of a run that has added to the cache: what was not used for longest goes, down to nine tenths, so that the
    next run need not begin again. A configuration that cannot be read is told, and costs no run its results."""
    try:
        most = most_bytes()
    except UsageError as error:
        print(f"assay: the cache was not looked through: {error}", file=sys.stderr)
        return
    entries = [one for found in sizes().values() for one in found]
    if sum(one.size_bytes for one in entries) > most:
        evict(entries, most * 9 // 10)
