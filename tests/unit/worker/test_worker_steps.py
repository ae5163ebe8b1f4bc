"""How far a job is, from the worker's memory to the driver's watch."""

from __future__ import annotations

import mmap
import socket
from pathlib import Path
from typing import Any, cast

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import ReferenceJob, VerifyJob
from assay.core.outcome import Outcome, Stage
from assay.core.step import UNKNOWN, Step
from assay.core.wire import SHARED_BYTES, crumb, stage_of, step_bytes, step_of
from assay.launch.job_queue import Pending, WorkerKey
from assay.launch.lane import Lane
from assay.launch.supervisor import Supervisor
from assay.models.onnx_file import open_model
from assay.worker import serve
from assay.worker.driver_connection import DriverConnection
from assay.worker.process_state import ProcessState


class _Shared(bytearray):
    """The memory of a worker, and every state that it was in."""

    def __init__(self) -> None:
        super().__init__(crumb(Stage.START) + step_bytes(UNKNOWN))
        self.states: list[tuple[Stage, Step]] = []

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        assert len(self) == SHARED_BYTES
        self.states.append((stage_of(bytes(self[:1])), step_of(bytes(self[1:]))))


def test_a_worker_says_which_sample_it_runs_and_forgets_it_with_the_stage(linear: Path, tmp_path: Path) -> None:
    model = open_model(linear)
    flow = Flow("reference", "reference")
    job = ReferenceJob(Case("net", model, Inputs(samples=3)), flow, reference_dir=str(tmp_path / "golden"))
    shared = _Shared()
    ours, _theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, _theirs:
        result = serve._execute(job, cast(mmap.mmap, shared), DriverConnection(ours, b""), ProcessState())
    assert result.outcome is Outcome.OK, result.detail
    ran = [step for stage, step in shared.states if stage is Stage.RUN]
    assert ran[0] == UNKNOWN
    assert [Step(number, 3) for number in (1, 2, 3)] == ran[1:4]
    assert shared.states[-1] == (Stage.SAVE, UNKNOWN)


def test_the_watch_is_called_once_for_each_step() -> None:
    steps: list[tuple[Stage | None, Step]] = []

    class Process:
        now, pid = (Stage.RUN, Step(1, 3)), 0

        def stage(self) -> Stage:
            return self.now[0]

        def step(self) -> Step:
            return self.now[1]

    job = VerifyJob(Case("net", cast(Any, None)), Flow("reference", ""))
    process = Process()
    lane = Lane(cast(Any, process), cast(WorkerKey, None), "", {}, pending=Pending(job))
    supervisor = Supervisor(
        workers=1, recycle=1, watch=lambda job, stage, done, total, step: steps.append((stage, step))
    )
    for step in (Step(1, 3), Step(1, 3), Step(2, 3)):
        process.now = (Stage.RUN, step)
        supervisor._look(lane, job)
    assert steps == [(Stage.RUN, Step(1, 3)), (Stage.RUN, Step(2, 3))]
