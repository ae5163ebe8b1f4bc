"""Models that are named by where they come from, and not by a file: a revision of a repository, an address, a cache. Each becomes a file
before anything runs, in a folder of the user's cache that is called by its content."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from assay.core.run import ModelSource
from assay.errors import BadModel
from assay.models.cache_eviction import Entry, entry_of, used_now
from assay.models.files import file_digest, is_lfs_pointer, user_cache
from assay.models.named_sources.wanted import SourceRequest

Fetch = Callable[[SourceRequest, Path], Path]
"""Writes the model, and what it needs beside it, into a folder that is empty. Returns the model. Raises BadModel."""
_KIND = re.compile(r"(git|hf):|[a-z][a-z0-9+]*:/")


def is_named(source: str | Path) -> bool:
    """Whether it says where a model comes from, and no file has that name."""
    return _KIND.match(str(source)) is not None and not Path(source).exists()


def as_written(source: str | Path) -> str:
    """A path has lost a slash of `https://`."""
    if not is_named(source) or str(source).startswith("models:"):  # MLflow writes one
        return str(source)
    return re.sub(r"^([a-z+0-9]+):/(?!/)", r"\1://", str(source))


def path_in_repository(source: str | Path) -> str:
    """The file that a `git:REF:path` names; "" for any other source."""
    kind, _, rest = str(source).partition(":")
    return rest.partition(":")[2] if kind == "git" and is_named(source) else ""


def to_file(source: str | Path, others: dict[str, Fetch] | None = None) -> ModelSource:
    """Where it lies now. `others` fetch what this room does not, by the kind of the source. Raises BadModel with one sentence."""
    request = SourceRequest(as_written(source))
    kind = request.said.partition(":")[0]
    root = _folder()
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix="tmp-", ignore_cleanup_errors=True) as name:
            return _kept(request, _fetch_of(kind, others or {})(request, Path(name)), root)
    except OSError as error:
        raise BadModel(
            f"{request.said} cannot be kept in {root} ({error.strerror or error}): free some space, or name another folder in ASSAY_CACHE"
        ) from None


def weighed() -> Iterator[Entry]:
    """Those in the cache, with when they were used last."""
    for folder in _folder().glob("*"):
        if entry := entry_of(folder, used=folder):
            yield entry


def _folder() -> Path:
    return user_cache() / "sources"


def _fetch_of(kind: str, others: dict[str, Fetch]) -> Fetch:
    from assay.models.named_sources import git_revision, hub, mlflow, web_address

    known: dict[str, Fetch] = {
        "git": git_revision.from_here,
        "hf": hub.from_cache,
        "https": web_address.from_address,
        "http": web_address.from_address,
        "models": mlflow.from_registry,
        **others,
    }
    known |= dict.fromkeys(("git+https", "git+http", "git+ssh"), git_revision.from_repository)
    if kind not in known:
        raise BadModel(
            f"{kind}:// is no source of models: give a file, git:REF:path, git+https://, https://, s3://, hf:owner/name@revision:file or "
            "models:/NAME/VERSION"
        )
    return known[kind]


def _kept(request: SourceRequest, file: Path, root: Path) -> ModelSource:
    """The folder gets the name of its content; where there is one of that name with every byte right, that one is used."""
    digests = _digests(file.parent)
    for name, _ in digests:
        if is_lfs_pointer(file.parent / name):
            which = request.said if name == file.name else f"{request.said}: its file {name}"
            raise BadModel(
                f"{which} is a Git LFS pointer, and git lfs is not here to fetch what it stands for: install git-lfs"
            )
    final = root / hashlib.sha256(repr(digests).encode()).hexdigest()[:32]
    if final.exists() and _digests(final) != digests:
        shutil.rmtree(final)
    if not final.exists():
        new = Path(tempfile.mkdtemp(dir=root, prefix="tmp-"))
        for path in file.parent.iterdir():
            path.replace(new / path.name)
        try:
            new.rename(final)
        except OSError:  # another process was quicker
            shutil.rmtree(new)
            if not final.exists():
                raise
    used_now(final)
    return ModelSource(request.said, str(final / file.name), dict(digests)[file.name], request.commit)


def _digests(folder: Path) -> list[tuple[str, str]]:
    return sorted(
        (PurePosixPath(path.relative_to(folder)).as_posix(), file_digest(path))
        for path in folder.rglob("*")
        if path.is_file()
    )
