"""One text for each cause that nobody was told of yet: the first line is its title, the rest says what it is and how to see it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.errors import UsageError
from assay.fuzz.corpus import Bucket, Session, is_cause
from assay.fuzz.text import STATUSES

MOST_SCRIPT = 20_000
"""Characters of a script that stand in an issue."""


def write_issues(session: Session, folder: Path) -> list[Path]:
    """Files named by the keys of the causes, which count as reported from now on: the caller keeps the session."""
    new = [one for key, one in session.buckets.items() if key not in session.reported and is_cause(one)]
    found = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in new:
            path = folder / f"{one.key}.md"
            path.write_text("\n".join(_lines(one)) + "\n", encoding="utf-8")
            found.append(path)
    except OSError as error:
        raise UsageError(f"issues cannot be written to {folder} ({error.strerror}); name another folder") from None
    session.reported += [one.key for one in new]
    return found


def _lines(one: Bucket) -> Iterator[str]:
    yield f"{one.title} [{one.key}]"
    yield ""
    yield f"`assay fuzz` found it on {one.flow} ({one.found_at}): {STATUSES[one.status]}."
    yield ""
    yield f"* first case: `{one.first}` ({', '.join(one.dtypes) or 'unknown types'}), seen {one.count} times"
    if one.attributes:
        yield f"* attributes that matter: {', '.join(f'`{name}`' for name in one.attributes)}"
    if one.brought:
        yield f"* right without: {', '.join(f'`{name}`' for name in one.brought)}"
    if one.workaround:
        yield f"* workaround: {one.workaround}"
    for name, version in sorted(one.versions.items()):
        yield f"* {name} {version}"
    if one.detail:
        yield f"* {' '.join(one.detail.split())}"
    script = Path(one.script) if one.script else None
    if script is not None and script.is_file():
        yield from ("", "```python", script.read_text(encoding="utf-8")[:MOST_SCRIPT].rstrip("\n"), "```")
