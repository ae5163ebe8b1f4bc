"""Where suites keep what they made, and the list of cases by which they find it again."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.core.case import Case
from assay.errors import NotWritable
from assay.models.cache_eviction import Entry, entry_of, used_now
from assay.models.files import user_cache

LAYOUT = "1"
"""Of the cache: another number, another folder."""
INDEX = "index.msgpack"
"""The list of cases of a folder that holds all of a suite."""
DONE = ".made.msgpack"
"""What was answered for one case, beside the folder of its files."""


def cache_folder(*parts: str) -> Path:
    """The user's cache, then `suites`, the layout and `parts`.

    Made where it is missing. Raises NotWritable.
    """
    folder = user_cache().absolute().joinpath("suites", LAYOUT, *parts)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotWritable(
            f"the cache {folder} cannot be made ({error.strerror}); name another with ASSAY_CACHE"
        ) from None
    return folder


def write_index(path: Path, cases: Sequence[Case]) -> None:
    """The list of cases, their files relative to the folder of `path`; whole or not at all."""
    local = [_relocated(case, path.parent, to_disk=True) for case in cases]
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(msgspec.msgpack.encode(local))
    Path(file.name).replace(path)


def read_index(path: Path) -> list[Case] | None:
    """The cases with absolute paths; None where there is no index, or one of another version."""
    used_now(path)
    try:
        cases = msgspec.msgpack.decode(path.read_bytes(), type=list[Case])
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return [_relocated(case, path.parent, to_disk=False) for case in cases]


def weighed() -> Iterator[Entry]:
    """Every made case, every folder with all cases of a suite, and what killed processes left half-made."""
    for folder in (user_cache() / "suites" / LAYOUT).glob("*/*"):
        if len(folder.name) > 2:  # all cases of a suite, by a digest
            index = folder / INDEX
            entries = [entry_of(folder, used=index if index.exists() else folder)]
        else:
            entries = [
                _weighed_case(path) for path in folder.glob("*") if not path.with_name(path.name + DONE).exists()
            ]
        yield from (entry for entry in entries if entry)


def _weighed_case(path: Path) -> Entry | None:
    """What was answered for a case, with its files; or files that nobody answered for."""
    made = str(path).removesuffix(DONE)
    return entry_of(path, *((made,) if path.name.endswith(DONE) and os.path.isdir(made) else ()), used=path)


def _relocated(case: Case, root: Path, *, to_disk: bool) -> Case:
    def moved(text: str) -> str:
        return os.path.relpath(text, root) if to_disk else os.path.join(root, text)

    files = {moved(file): digest for file, digest in case.model.files.items()}
    model = msgspec.structs.replace(case.model, source=moved(case.model.source), files=files)
    golden = moved(case.inputs.golden) if case.inputs.golden else ""
    return msgspec.structs.replace(case, model=model, inputs=msgspec.structs.replace(case.inputs, golden=golden))
