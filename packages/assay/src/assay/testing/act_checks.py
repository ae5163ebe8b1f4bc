"""Misbehaving jobs between innocent ones, in a random order: is every one reported as what it is, and is nothing left?"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.case import Case
from assay.core.environment import Interpreter
from assay.core.flow import Flow, Option
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result
from assay.judge.words.note_text import note_text
from assay.launch import process_tree
from assay.launch.pool import FreshProcess, Pool
from assay.launch.prefork import Preforked
from assay.launch.shared_memory import segments
from assay.ports import JobList, JobSource
from assay.testing.acts import ACTS
from assay.testing.faulty_backend import IMPORT_ACT

STAGES = (Stage.IMPORT, Stage.LOWER, Stage.SAVE, Stage.LOAD, Stage.RUN)
HANG_S = 8.0
"""Of a job that hangs."""
PATIENCE_S = 60.0
"""Of any other, however busy the machine is."""
MEMORY_BYTES = 600_000_000
INNOCENT = "innocent"
BY_IMPORTS = (
    "environment",
    "signal",
    "descriptor",
    "import path",
    "recursion",
    "switch interval",
    "longest number",
    "stack of threads",
    "sockets",
)
"""What a library may change when it is imported: no warning tells it."""
UNDONE_BY_IMPORTS = ("garbage collector",)
"""What is put back when an import ends."""
_MARK = "ASSAY_ACTS_RUN"


def identity_golden(folder: Path) -> tuple[Model, Path]:
    """A model that gives back what it is given, written to that folder, and the folder of its golden."""
    import onnx
    from onnx import TensorProto, helper

    from assay.models.goldens import write_golden
    from assay.models.onnx_file import open_model

    spec = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "identity", spec[:1], spec[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(made, folder / "identity.onnx")
    model = open_model(folder / "identity.onnx")
    samples = [{"x": np.random.default_rng(n).normal(size=(1, 4)).astype(np.float32)} for n in range(4)]
    write_golden(
        folder / "golden",
        model=model,
        inputs=samples,
        outputs=[{"y": sample["x"]} for sample in samples],
        created_at="",
        seed=0,
        producer="identity",
        producer_version="1",
        who="assay.testing",
        reason="misbehaving backends",
    )
    return model, folder / "golden"


@dataclass(frozen=True)
class ActJob:
    """A job, and what it does in which stage ("": it is innocent). `when` is not "now" where it does it at another moment than that:
    then nobody can say what its own result must be."""

    job: Job
    act: str = ""
    stage: Stage = Stage.RUN
    when: str = "now"


def interpreter_of(environment: str) -> Interpreter:
    """Of a worker whose backend commits the act of that name where it is imported."""
    return Interpreter(sys.executable, {IMPORT_ACT: environment})


def act_job(
    name: str,
    model: Model,
    golden: Path,
    act: str = "",
    stage: Stage = Stage.RUN,
    *,
    when: str = "now",
    after_s: float = 0.0,
) -> ActJob:
    """A verify job of the identity; `golden` holds its answers."""
    at_import = act if stage is Stage.IMPORT else ""
    options: dict[str, Option] = {
        "model": "identity",
        "act": "" if at_import else act,
        "stage": "run" if at_import else stage.value,
    }
    if when != "now":
        options |= {"act_when": when, "act_after_s": after_s}
    flow = Flow("faulty", "faulty", options, environment=at_import)
    known = ACTS.get(act)
    hangs = known is not None and known.outcome is Outcome.TIMEOUT
    grows = known is not None and known.outcome is Outcome.OUT_OF_MEMORY
    limits = Limits(
        timeout_s=HANG_S if hangs else PATIENCE_S,
        import_s=HANG_S if hangs and at_import else 0.0,
        memory_bytes=MEMORY_BYTES if grows else 0,
    )
    return ActJob(VerifyJob(Case(name, model), flow, limits=limits, reference_dir=str(golden)), act, stage, when)


def act_jobs(
    plan: Sequence[tuple[str, Stage]], model: Model, golden: Path, *, seed: int, innocent: int = 2
) -> list[ActJob]:
    """One job for each act and stage and `innocent` innocent ones for each, in a random order."""
    guilty = [act_job(f"{act}-{stage.value}", model, golden, act, stage) for act, stage in plan]
    good = [act_job(f"{INNOCENT}-{n}", model, golden) for n in range(innocent * len(plan))]
    mixed = [*guilty, *good]
    random.Random(seed).shuffle(mixed)
    return mixed


def problem_of(jobs: ActJob, result: Result) -> str:
    """What is wrong with the result of that job; "" where nothing is."""
    if not jobs.act:
        expected: tuple[object, ...] = (Outcome.OK, Cause.NONE, Stage.COMPARE)
        outcome_seen: tuple[object, ...] = (result.outcome, result.cause, result.stage)
        if outcome_seen != expected or any("process" in note_text(note) for note in result.notes):
            return f"innocent, and it is {_shown(result)}"
        return ""
    if jobs.when != "now":
        return ""
    act = ACTS[jobs.act]
    stage = Stage.COMPARE if act.outcome is Outcome.OK else jobs.stage
    if (result.outcome, result.cause, result.stage) != (act.outcome, act.cause, stage):
        return f"it is {_shown(result)}; it must be {act.outcome}/{act.cause} in {stage}"
    if act.says not in result.detail or (act.signal and result.signal != act.signal):
        return f"the detail does not say {act.says!r}: {_shown(result)}"
    allowed = (*BY_IMPORTS, *UNDONE_BY_IMPORTS) if jobs.stage is Stage.IMPORT else ()
    if act.changed and act.changed not in allowed and not any(act.changed in note_text(note) for note in result.notes):
        return f"no warning says {act.changed!r}: {[*map(note_text, result.notes)]}"
    return ""


def _shown(result: Result) -> str:
    more = f" notes {[*map(note_text, result.notes)]}" if result.notes else ""
    return f"{result.outcome}/{result.cause} in {result.stage}: {result.detail[:300]}{more}"


def problems_of(jobs: Sequence[ActJob], results: Sequence[Result]) -> dict[str, str]:
    """By name of the case: wrong, lost and doubled."""
    problems: dict[str, str] = {}
    by_key: dict[str, Result] = {}
    for result in results:
        if result.case in by_key:
            problems[result.case] = "two results"
        by_key[result.case] = result
    for job in jobs:
        name = job.job.case.name
        problem = problem_of(job, by_key[name]) if name in by_key else "no result"
        if problem:
            problems[name] = problem
    return problems


def launch_as(kind: str, workers: int, source: JobSource) -> Iterator[Result]:
    """In a pool, in a pool whose workers are forked, or each in a fresh process."""
    with Preforked(("faulty",) if kind == "forked" else ()) as preforked:
        if kind == "fresh":
            yield from FreshProcess(workers, interpreter=interpreter_of).launch(source)
        else:
            yield from Pool(workers, interpreter=interpreter_of, preforked=preforked).launch(source)


def launched(
    jobs: Sequence[ActJob], launch: Callable[[JobSource], Iterable[Result]]
) -> tuple[dict[str, str], list[str]]:
    """The problems of these jobs, and what is left behind when all have ended."""
    results: list[Result] = []
    with nothing_left() as left:
        try:
            results.extend(launch(JobList([job.job for job in jobs])))
        except Exception as error:  # noqa: BLE001  what it loses is counted
            left.append(f"the launch itself failed: {type(error).__name__}: {error}")
    return problems_of(jobs, results), left


@contextmanager
def nothing_left(wait: Callable[[], None] = lambda: None) -> Iterator[list[str]]:
    """The list is filled with what is left when the block ends: processes, and files in the folder for temporary ones."""
    left: list[str] = []
    before_shared, before_children = _shared_memory(), set(process_tree.children(os.getpid()))
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="assay-acts-", ignore_cleanup_errors=True) as folder:
        before = (os.environ.get("TMPDIR"), tempfile.tempdir)
        os.environ[_MARK], os.environ["TMPDIR"], tempfile.tempdir = mark, folder, folder
        try:
            yield left
        finally:
            os.environ.pop(_MARK)
            os.environ.pop("TMPDIR")
            if before[0] is not None:
                os.environ["TMPDIR"] = before[0]
            tempfile.tempdir = before[1]
        wait()
        left += [f"process {number}" for number in marked(mark)]
        left += [f"nameless process {number}" for number in _named(folder)]
        left += [f"file {name}" for name in os.listdir(folder)]
        left += [f"memory {name}" for name in _shared_memory() - before_shared]
        new = set(process_tree.children(os.getpid())) - before_children
        left += [f"zombie {number}" for number in new if process_tree.is_dead(number)]


def _shared_memory() -> set[str]:
    """Of Python's own making, and segments whose maker is gone."""
    segments_there = (
        {name for name in os.listdir("/dev/shm") if name.startswith("psm_")} if os.path.isdir("/dev/shm") else set()
    )
    return segments_there | {f"segment {number}" for number, maker, _, _ in segments() if process_tree.is_dead(maker)}


def _named(folder: str) -> list[int]:
    """Processes that were told that folder: those that show no variables."""
    pids = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if folder.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                pids.append(int(name))
    return pids


def marked(mark: str) -> list[int]:
    """Living processes that were started with that value of the mark, our own apart."""
    pids = []
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit() and int(name) != os.getpid():
                known = Path(f"/proc/{name}/environ").read_bytes()
                if f"{_MARK}={mark}".encode() in known:
                    pids.append(int(name))
    return pids
