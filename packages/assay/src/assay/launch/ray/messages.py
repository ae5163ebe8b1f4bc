"""What crosses between the driver and the agents of its nodes: msgpack, no pickle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from assay.core.environment import Interpreter
from assay.core.job import AnyJob
from assay.core.job_base import Job
from assay.core.result import Result
from assay.core.wire import Done, decode_answer, decode_job, encode
from assay.launch.ray.travelling import TravellingFile

THREADS = "OMP_NUM_THREADS"
"""Ray sets it on each node to the CPUs that it lends there. Libraries read it, and artifacts are kept under it: it is made the driver's."""


class Settings(msgspec.Struct, frozen=True):
    """How an agent is to work. `workers` side by side (0: one per core that it has), `folder` where relative paths begin; `token` is the
    name of a file in it by which an agent sees that it looks at the same disk. What workers of `flows` need is imported at once.
    `threads` is the driver's $OMP_NUM_THREADS, "" where it has none. `store` is the address by which files go to a node that does not see
    the folder, "" where there is none."""

    workers: int
    recycle: int
    folder: str = ""
    token: str = ""
    flows: tuple[str, ...] = ()
    threads: str = ""
    store: str = ""


class Greeting(msgspec.Struct, frozen=True):
    """What an agent says of its node. `problem` is why it cannot be used, "" where it can. `base` is the folder below which the paths of
    the driver lie there, "" where it sees the driver's disk."""

    node: str
    workers: int
    problem: str = ""
    gpus: int = 0
    base: str = ""


class Parcel(msgspec.Struct, frozen=True):
    """Jobs for a node. `interpreters` are those of the environments that they name; `failed` says why there is none. To a node that does
    not see the driver's disk `files` must be brought first; `watched` are the paths, by the key of a job, at which it may write,
    `folders` those that must be there."""

    jobs: tuple[bytes, ...]
    alone: bool
    interpreters: dict[str, Interpreter] = {}
    failed: dict[str, str] = {}
    files: tuple[TravellingFile, ...] = ()
    watched: dict[str, tuple[str, ...]] = {}
    folders: tuple[str, ...] = ()


class Batch(msgspec.Struct, frozen=True):
    """Results, and the files that their jobs wrote where the driver does not see them."""

    results: tuple[bytes, ...]
    files: tuple[TravellingFile, ...] = ()


def pack_jobs(jobs: Iterable[Job]) -> tuple[bytes, ...]:
    return tuple(map(encode, jobs))


def unpack_jobs(parcel: Parcel) -> list[AnyJob]:
    """Raises msgspec.DecodeError."""
    return [decode_job(job) for job in parcel.jobs]


def pack_results(results: Sequence[Result], files: Sequence[TravellingFile] = ()) -> bytes:
    packed = tuple(encode(Done(result)) for result in results)  # type: ignore[arg-type]
    return msgspec.msgpack.encode(Batch(packed, tuple(files)))


def unpack_batch(body: bytes) -> Batch:
    """Raises msgspec.DecodeError."""
    return msgspec.msgpack.decode(body, type=Batch)


def unpack_results(batch: Batch) -> list[Result]:
    """Raises msgspec.DecodeError."""
    answers = map(decode_answer, batch.results)
    return [answer.result for answer in answers if isinstance(answer, Done)]
