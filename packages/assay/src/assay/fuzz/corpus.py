"""What is kept of a fuzzing session, in one folder: where it is, the cases that looked wrong, and the buckets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec

from assay.core.screening import Suspect, Unspecified
from assay.errors import UsageError

STATE = "session.json"
FORMAT = 2
_LISTED_FLOWS = 1
"""The format whose `referred` named whole flows: their cases are screened again."""


CAUSES = ("wrong", "crash", "timeout", "in_use", "unstable")
"""What a bucket may be that counts as a cause: the others are looked at by people. One is unstable whose answers are further apart than is
allowed, and far from the reference: what contradicts itself needs no second witness."""
COMPARED = (*CAUSES, "one_witness", "undecided")
"""What a bucket may be that others are held against: of the rest nothing is proven."""


class Arm(msgspec.Struct, frozen=True):
    """One generator on one flow. `next` is the first index that was not screened; `ended` that of a case which ended its worker, where
    those before it are screened once more without it (0: none); `recent_s` and `recent_found` fade."""

    generator: str
    version: int
    flow: str
    next: int = 0
    cases: int = 0
    found: int = 0
    ended: int = 0
    cpu_s: float = 0.0
    recent_s: float = 0.0
    recent_found: float = 0.0

    @property
    def name(self) -> str:
        """Unique in a session."""
        return f"{self.generator} on {self.flow}"


class Bucket(msgspec.Struct, frozen=True):
    """Suspects of one cause. `status`: "wrong" (two witnesses), "one_witness", "disputed" (an independent engine sides with
    the engine under test: the oracle is in doubt), "unspecified", "crash", "timeout", "failed", "unstable", "refused",
    "not_judged", "not_repeated", or "undecided": perhaps the same cause as `like`, which nothing that could be tried says or denies.
    `operators` are those of the smallest model, `stated` all attributes of the case, `attributes` those that part causes, `brought` what
    cures it. `at` is how many processor seconds the session had
    used in all when it was found, `found_at` and `last_at` when it was met first and last.
    `signal` is the name of the one that ended its process.
    `known` is the finding that it is, or the folder of an earlier cause: such a one is counted, not shown."""

    key: str
    flow: str
    backend: str
    kind: str
    status: str
    operators: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    brought: tuple[str, ...] = ()
    unspecified: tuple[Unspecified, ...] = ()
    count: int = 1
    first: str = ""
    generator: str = ""
    smallest: str = ""
    title: str = ""
    workaround: str = ""
    script: str = ""
    folder: str = ""
    dtypes: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    at: float = 0.0
    found_at: str = ""
    detail: str = ""
    known: str = ""
    last_at: str = ""
    ablated: dict[str, bool] = {}
    like: str = ""
    signal: str = ""
    stated: tuple[str, ...] = ()


class Waiting(msgspec.Struct, frozen=True):
    """A suspect that was not looked into yet, or `bucket`: what a look came to, where the time was over before that was compared."""

    flow: str
    suspect: Suspect
    bucket: Bucket | None = None


def is_cause(bucket: Bucket) -> bool:
    """Whether it is a defect that nobody knew."""
    return bucket.status in CAUSES and not bucket.known


def is_compared(bucket: Bucket) -> bool:
    """Whether others are held against it."""
    return bool(bucket.known) or bucket.status in COMPARED


def confirms(new: Bucket, old: Bucket) -> bool:
    """Whether the new one proves what the old one, of the same cause, left open."""
    return is_cause(new) and old.status not in CAUSES and not old.known


class Session(msgspec.Struct):
    """The whole state. `looked` says, by signature, into how many suspects was looked and which buckets they came to. `near` is the digest
    of the patterns of a user's models ("": none), `learned` that of pairs; `referred` says, by flow, which cases of known
    defects were screened there and which of them are right, `absent` the findings of which every case is, `fired` how
    compilers changed graphs, `reported` are buckets that issues were written for, `alerted` those that
    people were told of. `processor_s` is what its calls used in all, workers included."""

    seed: int
    onnx: str = ""
    arms: dict[str, Arm] = {}
    counts: dict[str, dict[str, int]] = {}
    seen: dict[str, dict[str, int]] = {}
    refused: dict[str, dict[str, int]] = {}
    fired: dict[str, dict[str, int]] = {}
    waiting: list[Waiting] = []
    looked: dict[str, list[str]] = {}
    buckets: dict[str, Bucket] = {}
    wall_s: float = 0.0
    looking_s: float = 0.0
    runs: int = 0
    format: int = FORMAT
    near: str = ""
    learned: str = ""
    referred: dict[str, dict[str, bool]] = {}
    absent: dict[str, list[str]] = {}
    reported: list[str] = []
    alerted: list[str] = []
    processor_s: float = 0.0

    @property
    def cpu_s(self) -> float:
        """Processor time of all screening."""
        return sum(arm.cpu_s for arm in self.arms.values())


def _name_signals(stored: dict[str, Any]) -> None:
    """Sessions written before crashes had their signal in a field of its own have it in their detail."""
    ended = [*stored.get("buckets", {}).values(), *(waiting["suspect"] for waiting in stored.get("waiting", []))]
    for crash in ended:
        if crash["kind"] == "crash" and not crash.get("signal") and crash.get("detail", "").startswith("SIG"):
            crash["signal"] = crash["detail"]


class Corpus:
    """A folder. `open` makes it where it is not there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def suspects(self, flow: str) -> Path:
        """Models and inputs of cases that looked wrong on that flow: what is left of one case is another on each."""
        return self.folder / "suspects" / flow.replace("/", "-")

    @property
    def known(self) -> Path:
        """Cases of defects that are known, and `known.json`: which finding each is of."""
        return self.folder / "known"

    @property
    def learned(self) -> Path:
        """Pairs of operators that a backend was seen to compile together."""
        return self.folder / "learned.json"

    @property
    def near(self) -> Path:
        """Patterns of the models that cases come near to."""
        return self.folder / "near.json"

    def near_of(self, session: Session) -> str:
        """The file of patterns that this session comes near to; "": none."""
        return str(self.near.absolute()) if session.near else ""

    def learned_of(self, session: Session) -> str:
        """The file of pairs that this session draws from; "": none, though an interrupted one may have left a file."""
        return str(self.learned.absolute()) if session.learned else ""

    def read(self) -> Session | None:
        """None where nothing was done yet. Raises UsageError for a folder that holds something else."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"the corpus {self.folder} is a file; give a folder with --corpus")
        path = self.folder / STATE
        if not path.exists():
            return None
        try:
            stored = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
            written = stored.get("format", FORMAT)
            if written == _LISTED_FLOWS:
                stored |= {"referred": {}, "format": FORMAT}
            elif written != FORMAT:
                raise UsageError(f"{path} was written by another version of assay; give another folder with --corpus")
            _name_signals(stored)
            return msgspec.convert(stored, Session)
        except (OSError, msgspec.MsgspecError) as error:
            raise UsageError(
                f"{path} cannot be read as a fuzzing session ({error}); give another folder with --corpus"
            ) from None

    def write(self, session: Session) -> None:
        """In one step: an interruption leaves the state before."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path, new = self.folder / STATE, self.folder / f"{STATE}.new"
            new.write_bytes(msgspec.json.encode(session))
            os.replace(new, path)
        except OSError as error:
            raise UsageError(
                f"the corpus {self.folder} cannot be written ({error.strerror}); give another with --corpus"
            ) from None
