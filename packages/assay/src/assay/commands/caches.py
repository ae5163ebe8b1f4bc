"""All that runs leave in the user's cache for later ones, and the one bound on it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from assay.commands.known_environments import CONFIG
from assay.core.result import Result
from assay.core.result_parts import facts_of
from assay.errors import UsageError
from assay.judge.outcome_table import REFUSALS
from assay.models.cache_eviction import BUSY_S, MOST_BYTES, Entry, compiled, evict
from assay.models.files import user_cache


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
    if any(result.outcome in REFUSALS and not facts_of(result).reused for result in results):
        enforce_cache_limit()


def enforce_cache_limit() -> None:
    """At the end of a run that has added to the cache: what was not used for longest goes, down to nine tenths, so that the
    next run need not begin again. What was used within the hour stays, so the cache is looked through once in an hour at most: with ten
    thousands of entries that takes seconds. A configuration that cannot be read is told, and costs no run its results."""
    try:
        most = most_bytes()
    except UsageError as error:
        print(f"assay: the cache was not looked through: {error}", file=sys.stderr)
        return
    if _enforced_lately(most):
        return
    entries = [entry for siz in sizes().values() for entry in siz]
    if sum(entry.size_bytes for entry in entries) > most:
        evict(entries, most * 9 // 10)
    with suppress(OSError):
        _record().write_text(str(most))


def _enforced_lately(most: int) -> bool:
    """Whether the same limit was enforced within the hour."""
    try:
        return time.time() - _record().stat().st_mtime < BUSY_S and _record().read_text() == str(most)
    except OSError:
        return False


def _record() -> Path:
    """The limit that was enforced last; its time is that of the file."""
    return user_cache() / "enforced-limit"
