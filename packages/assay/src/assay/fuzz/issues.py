"""One text for each cause that nobody was told of yet: the first line is its title, the rest says what it is and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.errors import UsageError
from assay.fuzz.corpus import Bucket, Session, is_cause
from assay.fuzz.fuzz_text import STATUSES

MOST_SCRIPT = 20_000
"""Characters of a script that stand in an issue."""


def write_issues(session: Session, folder: Path) -> list[Path]:
    """Files named by the keys of the causes, which count as reported from now on: the caller keeps the session."""
    new = [bucket for key, bucket in session.buckets.items() if key not in session.reported and is_cause(bucket)]
    paths = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for bucket in new:
            path = folder / f"{bucket.key}.md"
            path.write_text("\n".join(_lines(bucket)) + "\n", encoding="utf-8")
            paths.append(path)
    except OSError as error:
        raise UsageError(f"issues cannot be written to {folder} ({error.strerror}); name another folder") from None
    session.reported += [bucket.key for bucket in new]
    return paths


def _lines(bucket: Bucket) -> Iterator[str]:
    yield f"{bucket.title} [{bucket.key}]"
    yield ""
    yield f"`assay fuzz` found it on {bucket.flow} ({bucket.found_at}): {STATUSES[bucket.status]}."
    yield ""
    yield f"* first case: `{bucket.first}` ({', '.join(bucket.dtypes) or 'unknown types'}), seen {bucket.count} times"
    if bucket.attributes:
        yield f"* attributes that matter: {', '.join(f'`{name}`' for name in bucket.attributes)}"
    if bucket.brought:
        yield f"* right without: {', '.join(f'`{name}`' for name in bucket.brought)}"
    if bucket.workaround:
        yield f"* workaround: {bucket.workaround}"
    for name, version in sorted(bucket.versions.items()):
        yield f"* {name} {version}"
    if bucket.detail:
        yield f"* {' '.join(bucket.detail.split())}"
    script = Path(bucket.script) if bucket.script else None
    if script is not None and script.is_file():
        yield from ("", "```python", script.read_text(encoding="utf-8")[:MOST_SCRIPT].rstrip("\n"), "```")
