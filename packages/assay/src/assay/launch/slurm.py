"""Arrays of Slurm: submitted, looked after, ended. Jobs of Slurm are told apart from ours by the word task: a number of an array."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path

from assay.errors import UsageError

_ANSWER_S = 60.0
_NUMBERS = re.compile(r"(\d+)(?:-(\d+))?")


class SlurmArray:
    """`partition` "": Slurm's default. Logs and the script lie in `folder`, which every node must see."""

    def __init__(self, folder: Path, partition: str = "") -> None:
        if shutil.which("sbatch") is None:
            raise UsageError(
                "there is no sbatch here: run this on a machine that submits jobs to Slurm (Debian: slurm-client), or leave --on slurm out"
            )
        self._folder, self._partition = folder, partition
        self._submitted: list[str] = []

    def submit(self, script: str, tasks: Collection[int]) -> None:
        """Each of them runs `script` with its number in $SLURM_ARRAY_TASK_ID. Raises UsageError where Slurm refuses it."""
        path = self._folder / "tasks.sh"
        path.write_text(script)
        numbers = ",".join(map(str, sorted(tasks)))
        words = ["--parsable", "--requeue", "--job-name=assay", f"--array={numbers}", f"--chdir={Path.cwd()}"]
        words += [f"--output={self._folder}/%a.log", "--open-mode=append"]
        words += [f"--partition={self._partition}"] if self._partition else []
        self._submitted.append(_ask("sbatch", *words, str(path)).strip().partition(";")[0])

    def waiting(self) -> set[int]:
        """The tasks that wait or run."""
        if not self._submitted:
            return set()
        # A job that has ended is forgotten after some minutes: then it is an error to ask for it alone.
        lines = _ask("squeue", "--noheader", "--me", "--format=%F %K").splitlines()
        own = [line.split() for line in lines]
        return {
            number for words in own if len(words) == 2 and words[0] in self._submitted for number in _tasks(words[1])
        }

    def cancel(self) -> None:
        """Nothing is left of it."""
        for one in self._submitted:
            subprocess.run(["scancel", one], capture_output=True, timeout=_ANSWER_S)


def _tasks(said: str) -> set[int]:
    """`3`, `1-4,7`, `1-8%2`."""
    found: set[int] = set()
    for first, last in _NUMBERS.findall(said.partition("%")[0]):
        found |= set(range(int(first), int(last or first) + 1))
    return found


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_S, errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"Slurm does not answer ({command[0]}: {error}): is slurmctld running?") from None
    if done.returncode:
        raise UsageError(f"Slurm refuses the jobs: {_reason(done.stderr.splitlines())}")
    return done.stdout


def _reason(lines: Sequence[str]) -> str:
    words = [line.partition("error: ")[2] or line for line in lines if line.strip()]
    return "; ".join(words)[:300] or "it does not say why"
