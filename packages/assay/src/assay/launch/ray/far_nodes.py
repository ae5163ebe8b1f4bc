"""What the driver does for nodes that do not see its disk: jobs are written for them, and what they wrote is brought here."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.core.job_base import Job
from assay.core.result import Result
from assay.core.wire import Done, decode_answer, decode_job, encode
from assay.errors import WorkerFailed
from assay.launch.ray.messages import Batch, Parcel
from assay.launch.ray.not_sent import without_file
from assay.launch.ray.travelling import (
    KnownFiles,
    TravellingFile,
    named_files,
    open_store,
    paths_in,
    roots_of,
    weights_beside,
    with_texts,
)


class FarNodes:
    """`store` is the address of the store that both sides use; `files`, below the working folder, go to each node. Raises StoreError."""

    def __init__(self, store: str, files: Sequence[str] = ()) -> None:
        self._always = [os.path.abspath(path) for path in files]
        self._sent: defaultdict[str, set[str]] = defaultdict(set)  # by the base of a node
        self._files = KnownFiles(open_store(store), Path)
        self._roots: set[str] = set()
        self._keys: dict[str, str] = {}

    def parcel(self, jobs: Sequence[Job], base: str, parcel: Parcel) -> Parcel:
        """With the jobs as they are on a node, and the files that they name in the store."""
        packed: list[bytes] = []
        files: list[TravellingFile] = list(self._files.send(self._always))
        watched: dict[str, tuple[str, ...]] = {}
        for job in jobs:
            roots = roots_of(job)
            self._roots.update(roots)
            tree = msgspec.msgpack.decode(encode(job))
            own = named_files(tree)
            named = {*paths_in(tree, roots), *(path for path in own if path.startswith("/"))} - {job.scratch}
            moved = {path: f"{base}{path}" for path in (*named, job.scratch) if path}
            far_job = msgspec.msgpack.encode(with_texts(tree, partial(_moved, moved)))
            beside = [os.path.abspath(path) for path in own for path in (path, *weights_beside(path))]
            files += self._files.send([*beside, *sorted(named)])
            key = decode_job(far_job).key
            self._keys[key] = job.key
            watched[key] = tuple(sorted(named.difference(own)))
            packed.append(far_job)
        self._sent[base].update(file.path for file in files)
        folders = tuple({job.scratch for job in jobs if job.scratch})
        return replace(parcel, jobs=tuple(packed), files=tuple(dict.fromkeys(files)), watched=watched, folders=folders)

    def results(self, batch: Batch, base: str) -> list[Result]:
        """As if they were of a node that sees this disk: what it wrote is here."""
        outside = [file.path for file in batch.files if not self._is_expected(file.path)]
        if outside:
            raise WorkerFailed(f"a node wrote {outside[0]}, which no job names: nothing of it was taken")
        self._files.fetch(batch.files)
        results: list[Result] = []
        for packet in batch.results:
            tree = msgspec.msgpack.decode(packet)
            answer = decode_answer(msgspec.msgpack.encode(with_texts(tree, lambda text: text.replace(base, ""))))
            if isinstance(answer, Done):
                key = self._keys.get(answer.result.job_key, answer.result.job_key)
                results.append(without_file(replace(answer.result, job_key=key), self._sent[base]))
        return results

    def _is_expected(self, path: str) -> bool:
        return ".." not in Path(path).parts and path.startswith(tuple(f"{root}/" for root in self._roots))


def _moved(moved: Mapping[str, str], text: str) -> str:
    return moved.get(text, text)
