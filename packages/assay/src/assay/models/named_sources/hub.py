"""A file of the cache of huggingface_hub on this machine: nothing is fetched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePosixPath

from assay.errors import BadModel
from assay.models.named_sources.wanted import SourceRequest, named_in


def from_cache(request: SourceRequest, into: Path) -> Path:
    """`hf:owner/name@revision:file`."""
    repository, _, rest = request.said.removeprefix("hf:").partition("@")
    revision, _, file = rest.partition(":")
    if repository.count("/") != 1 or not revision or not file or _leaves(repository, revision, file):
        raise BadModel(
            f"{request.said} names no file: write hf:owner/name@revision:file, as in hf:owner/name@main:onnx/model.onnx"
        )
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    folder = Path(os.environ.get("HF_HUB_CACHE") or home / "hub") / f"models--{repository.replace('/', '--')}"
    ref = folder / "refs" / revision
    request.commit = ref.read_text().strip() if ref.is_file() else revision
    path = folder / "snapshots" / PurePosixPath(request.commit).name / file
    if not path.is_file():
        raise BadModel(
            f"{request.said} is not in the cache {folder.parent}: `hf download {repository} {file} --revision {revision}` brings it"
        )
    beside = (
        neighbour.relative_to(path.parent).as_posix()
        for neighbour in path.parent.rglob("*")
        if neighbour.is_file() and neighbour != path
    )
    for name in [path.name, *named_in(path, beside)]:
        request.demand_room((path.parent / name).stat().st_size)
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path.parent / name, into / name)
    return into / path.name


def _leaves(*texts: str) -> bool:
    return any(".." in PurePosixPath(text).parts or text.startswith("/") for text in texts)
