"""kill -9 of a node, the head or the driver of a run on Ray at random moments: results lost, doubled, and outcomes changed. Two nodes of
one CPU each on this machine; needs `pip install 'assay[ray]'`."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from kill_trials import RUN, Trials, arguments_of, kill_driver

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from ray_cluster import RayNodes, ray_cluster

KINDS = ("node", "driver", "head")
RECONNECT = {"RAY_gcs_rpc_server_reconnect_timeout_s": "5"}
"""Ray's programs wait a minute for a head that is gone: each trial would."""


def harm(trials: Trials, kind: str, history: str, nodes: RayNodes) -> None:
    def kill(child: subprocess.Popen[bytes]) -> bool:
        if kind == "driver":
            return kill_driver(child)
        runs = child.poll() is None
        nodes.kill_second() if kind == "node" else nodes.kill_head()
        return runs

    trials.harm(history, kill, *_where(nodes))


def finish(trials: Trials, history: str, nodes: RayNodes) -> None:
    """`assay resume`, where there is anything to resume; then all is counted."""
    status = trials.status(history)
    if status == "complete":
        code = trials.assay("rejudge", "last", history=history)
    elif status:
        code = trials.assay("resume", "last", *_where(nodes), history=history)
    else:
        code = trials.assay(*trials.run, *_where(nodes), history=history)
    trials.count(history, code)


def _where(nodes: RayNodes) -> tuple[str, str]:
    return "--on", f"ray://{nodes.address}"


def trials_of(trials: Trials, kind: str, moments: int) -> None:
    """A head that is lost takes the cluster with it: the run goes on on another one."""
    names = [f"{kind}{number}" for number in range(moments)]
    if kind == "head":
        for history in names:
            with ray_cluster() as nodes:
                harm(trials, kind, history, nodes)
            with ray_cluster() as nodes:
                finish(trials, history, nodes)
        return
    with ray_cluster() as nodes:
        for history in names:
            harm(trials, kind, history, nodes)
            if kind == "node":
                nodes.start_second()
            finish(trials, history, nodes)


def main() -> None:
    arguments = arguments_of(__doc__, KINDS)
    os.environ.update(RECONNECT)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as name:
        trials = Trials(Path(name), random.Random(arguments.seed), (*RUN, "--workers", "1"))
        with ray_cluster() as nodes:
            trials.measure(*_where(nodes))
        for kind in arguments.kinds:
            trials.begin_kind()
            trials_of(trials, kind, arguments.moments)
            bad += trials.end_kind(kind)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
