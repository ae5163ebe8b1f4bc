"""A real slurmctld and slurmd on this machine, for tests: one partition, one node. They need root, and Debian's slurmctld, slurmd,
slurm-client and munge."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from free_port import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
START_S = 120.0


def missing() -> str:
    """What keeps it from starting here; "" where it can."""
    absent = [program for program in PROGRAMS if _path(program) is None]
    return f"{', '.join(absent)} is not installed" if absent else "" if os.geteuid() == 0 else "it needs root"


def _path(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _configuration(folder: Path, munge: Path) -> str:
    host, control, node = socket.gethostname().partition(".")[0], free_port(), free_port()
    return f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={control}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={munge}
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,sched_min_interval=10000,batch_sched_delay=0
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=60 State=UP
"""


@contextmanager
def slurm_cluster() -> Iterator[Path]:
    """Its slurm.conf, which SLURM_CONF names meanwhile."""
    folder = Path(tempfile.mkdtemp(prefix="assay-slurm-", dir="/tmp"))
    folder.chmod(0o755)
    started: list[subprocess.Popen[bytes]] = []
    before = os.environ.get("SLURM_CONF")
    try:
        munge = _start_munge(folder, started)
        (folder / "slurm.conf").write_text(_configuration(folder, munge))
        for name in ("state", "spool"):
            (folder / name).mkdir()
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        started.append(_start(folder, "slurmctld", "-D", "-i"))
        started.append(_start(folder, "slurmd", "-D"))
        _wait_until_idle(folder)
        yield folder / "slurm.conf"
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
        if before is None:
            os.environ.pop("SLURM_CONF", None)
        else:
            os.environ["SLURM_CONF"] = before
        shutil.rmtree(folder, ignore_errors=True)


def _start(folder: Path, program: str, *words: str, **more: Any) -> subprocess.Popen[bytes]:
    with (folder / f"{program}.out").open("wb") as log:
        return subprocess.Popen([_path(program) or program, *words], stdout=log, stderr=log, **more)


def _start_munge(folder: Path, started: list[subprocess.Popen[bytes]]) -> Path:
    """Its socket. munge insists on a user of its own, and on who may write where."""
    own = folder / "munge"
    own.mkdir(mode=0o755)
    key = own / "key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    for path in (own, key):
        shutil.chown(path, "munge", "munge")
    places = [
        f"--key-file={key}",
        f"--socket={own}/socket",
        f"--log-file={own}/log",
        f"--pid-file={own}/pid",
        f"--seed-file={own}/seed",
    ]
    started.append(_start(folder, "munged", "--foreground", "--force", *places, user="munge", group="munge"))
    _wait(lambda: (own / "socket").exists(), started[-1], folder / "munged.out")
    return own / "socket"


def _wait_until_idle(folder: Path) -> None:
    until = time.monotonic() + START_S
    said = ""
    while time.monotonic() < until:
        done = subprocess.run(["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True, timeout=60)
        said = done.stdout + done.stderr
        if done.stdout.strip() == "idle":
            return
        time.sleep(0.2)
    logs = "\n".join(path.read_text(errors="replace")[-1500:] for path in folder.glob("slurm*.log"))
    raise AssertionError(f"Slurm did not start: {said}\n{logs}")


def _wait(ready: object, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while not ready():  # type: ignore[operator]
        assert process.poll() is None, log.read_text(errors="replace")[-1500:]
        assert time.monotonic() < until, f"{log.stem} does not begin"
        time.sleep(0.1)
