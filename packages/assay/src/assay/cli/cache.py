"""`assay cache`: what earlier runs left for later ones below the user's cache, listed and removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # `assay --help` must not wait for msgspec
    from assay.models.artifacts import CachedArtifact
    from assay.models.cache_eviction import Entry

app = typer.Typer(no_args_is_help=True)

Unused = Annotated[
    float,
    typer.Option("--unused", metavar="DAYS", min=0.0, help="Only artifacts that were not used for this many days."),
]
Flow = Annotated[str, typer.Option("--flow", metavar="GLOB", help="Only artifacts of the flows that match.")]
_DAY_S = 24 * 3600.0
_MB = 1e6


@app.command("list")
def list_entries(flow: Flow = "*", unused: Unused = 0.0) -> None:
    """List cached artifacts: one line per flow with count, size and last use; then the folder, the total and its limit."""
    import time
    from collections import defaultdict

    from assay.commands.caches import most_bytes, sizes
    from assay.models.artifacts import Artifacts, artifacts_folder

    groups: dict[tuple[str, str, str], list[tuple[int, float]]] = defaultdict(list)
    for kept, size, used in _chosen(flow, unused):
        what = "refusals" if kept.refusal else "artifacts"
        groups[kept.flow, kept.facts.backend_version, what].append((size, used))
    for (name, version, what), group in sorted(groups.items()):
        days = (time.time() - max(used for _, used in group)) / _DAY_S
        print(
            f"{name:<44} {version:<14} {len(group):6} {what:<9} {sum(size for size, _ in group) / _MB:9.1f} MB, used {days:.0f} days ago"
        )
    entries, total = sum(map(len, groups.values())), sum(size for group in groups.values() for size, _ in group)
    print(f"{entries} artifacts, {total / _MB:.1f} MB, in {Artifacts(artifacts_folder()).folder}")
    kinds = sizes()
    for kind, those in kinds.items():
        print(f"{len(those)} {kind}, {_mb(those):.1f} MB")
    every = sum(_mb(those) for those in kinds.values())
    print(f"together {every:.1f} MB of {most_bytes() / _MB:.1f} MB at most (max-size of [cache] in assay.toml)")


@app.command("clear")
def clear(flow: Flow = "*", unused: Unused = 0.0) -> None:
    """Remove cached artifacts: the next run lowers again."""
    from assay.models.artifacts import Artifacts, artifacts_folder

    cache, count, total = Artifacts(artifacts_folder()), 0, 0
    for kept, size, _ in _chosen(flow, unused):
        cache.discard(kept.key)
        count, total = count + 1, total + size
    print(f"removed {count} artifacts, {total / _MB:.1f} MB, from {cache.folder}")


def _mb(entries: list[Entry]) -> float:
    return sum(entry.size_bytes for entry in entries) / _MB


def _chosen(flow: str, unused_days: float) -> Iterator[tuple[CachedArtifact, int, float]]:
    """With the bytes of each and the time of its last use."""
    import time
    from fnmatch import fnmatchcase

    from assay.models.artifacts import Artifacts, artifacts_folder

    before = time.time() - unused_days * _DAY_S
    for kept, size, used in Artifacts(artifacts_folder()).entries():
        if fnmatchcase(kept.flow, flow) and used <= before:
            yield kept, size, used
