"""Arrays of Slurm: submitted, looked after, ended. Jobs of Slurm are told apart from ours by the word task: a number of an array."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from assay.errors import SlurmUnreachable, UsageError

PATIENCE_S = 600.0
"""For a controller that does not answer: its tasks run on meanwhile."""
_ANSWER_S = 60.0
_FORGOTTEN = "Invalid job id"
"""What Slurm says of a job that has ended some minutes ago."""
_NUMBERS = re.compile(r"(\d+)(?:-(\d+))?")


class SlurmArray:
    """`partition` "": Slurm's default; `cores` of each task, 0: as many as Slurm gives. Logs and the script lie
    in `folder`, which every node must see."""

    def __init__(self, folder: Path, partition: str = "", cores: int = 0) -> None:
        if shutil.which("sbatch") is None:
            raise UsageError(
                "there is no sbatch here: run this on a machine that submits jobs to Slurm (Debian: slurm-client), or leave --on slurm out"
            )
        self._folder, self._partition, self._cores = folder, partition, cores
        self._submitted: list[str] = []
        self._waiting: set[int] = set()
        self._silent_since: float | None = None

    def submit(self, script: str, tasks: Collection[int]) -> None:
        """Each of them runs `script` with its number in $SLURM_ARRAY_TASK_ID. Raises UsageError where Slurm refuses it, SlurmUnreachable
        where it took others before."""
        path = self._folder / "tasks.sh"
        path.write_text(script)
        numbers = ",".join(map(str, sorted(tasks)))
        words = ["--parsable", "--requeue", "--job-name=assay", f"--array={numbers}", f"--chdir={Path.cwd()}"]
        words += [f"--output={self._folder}/%a.log", "--open-mode=append"]
        words += [f"--partition={self._partition}"] if self._partition else []
        words += [f"--cpus-per-task={self._cores}"] if self._cores else []
        try:
            answer = _ask("sbatch", *words, str(path))
        except _Failed as error:
            if self._submitted:
                raise SlurmUnreachable(
                    f"Slurm does not take shards {numbers} again ({error}); {self._left()}"
                ) from None
            raise UsageError(str(error)) from None
        self._submitted.append(answer.strip().partition(";")[0])
        self._waiting = set(tasks)

    def waiting(self) -> set[int]:
        """The tasks that wait or run. Where Slurm does not answer, those of its last answer, for some minutes: then raises
        SlurmUnreachable."""
        if not self._submitted:
            return set()
        try:
            # A job that has ended is forgotten after some minutes: then it is an error to ask for it alone.
            lines = _ask("squeue", "--noheader", "--me", "--format=%F %K").splitlines()
        except _Failed as error:
            now = time.monotonic()
            self._silent_since = now if self._silent_since is None else self._silent_since
            if now - self._silent_since < PATIENCE_S:
                return set(self._waiting)
            raise SlurmUnreachable(f"{error}, for {PATIENCE_S / 60:.0f} minutes; {self._left()}") from None
        self._silent_since = None
        own = [line.split() for line in lines]
        self._waiting = {
            number for words in own if len(words) == 2 and words[0] in self._submitted for number in _tasks(words[1])
        }
        return set(self._waiting)

    def cancel(self) -> list[str]:
        """The jobs that may be left, for Slurm did not take that."""
        left = []
        for job_id in self._submitted:
            try:
                _ask("scancel", job_id)
            except _Failed as error:
                left += [job_id] if _FORGOTTEN not in str(error) else []
        return left

    def _left(self) -> str:
        jobs = " ".join(self._submitted)
        return (
            f"its jobs go on: when `squeue --me` shows none of {jobs} any more, `assay merge {self._folder}/*.run` judges what came; "
            f"`scancel {jobs}` ends them"
        )


class _Failed(Exception):
    """A program of Slurm did not do what it was asked. The text says why."""


def _tasks(answer: str) -> set[int]:
    """`3`, `1-4,7`, `1-8%2`."""
    numbers: set[int] = set()
    for first, last in _NUMBERS.findall(answer.partition("%")[0]):
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_S, errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _Failed(f"Slurm does not answer ({command[0]}: {error}): is slurmctld running?") from None
    if done.returncode:
        did = "refuses the jobs" if command[0] == "sbatch" else f"does not answer {command[0]}"
        raise _Failed(f"Slurm {did}: {_reason(done.stderr.splitlines())}")
    return done.stdout


def _reason(lines: Sequence[str]) -> str:
    words = [line.partition("error: ")[2] or line for line in lines if line.strip()]
    return "; ".join(words)[:300] or "it does not say why"
