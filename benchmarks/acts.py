"""Misbehaving backends in random orders, between innocent jobs, in a pool and in fresh processes: the table of what is right."""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from functools import partial
from pathlib import Path

from assay.core.outcome import Stage
from assay.testing.act_checks import (
    INNOCENT,
    STAGES,
    act_jobs,
    identity_golden,
    launch_as,
    launched,
)
from assay.testing.acts import ACTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("acts", nargs="*", help="of these acts only")
    parser.add_argument("--orders", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--stage", choices=[stage.value for stage in STAGES], help="of this stage [a random one for each act and order]"
    )
    parser.add_argument("--kinds", nargs="*", default=["pool", "fresh"], choices=["pool", "forked", "fresh"])
    parser.add_argument("--innocent", type=int, default=2, help="innocent jobs for each act")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, golden = identity_golden(Path(folder))
        for order in range(arguments.seed, arguments.seed + arguments.orders):
            chance = random.Random(order)
            stages = [Stage(arguments.stage)] if arguments.stage else list(STAGES)
            plan = [(act, chance.choice(stages)) for act in arguments.acts or ACTS]
            for kind in arguments.kinds:
                jobs = act_jobs(plan, model, golden, seed=order, innocent=arguments.innocent)
                begin = time.perf_counter()
                wrong, left = launched(jobs, partial(launch_as, kind, arguments.workers))
                seconds = time.perf_counter() - begin
                guilty = sum(not name.startswith(INNOCENT) for name in wrong)
                print(
                    f"{kind}, order {order}, load {os.getloadavg()[0]:.1f}: {len(plan) - guilty}/{len(plan)} acts right, "
                    f"{len(wrong) - guilty}/{len(jobs) - len(plan)} innocent wrong, {len(left)} left behind, {seconds:.1f} s",
                    flush=True,
                )
                for name, problem in sorted(wrong.items()):
                    print(f"  {name}: {problem}")
                for what in left:
                    print(f"  left: {what}", flush=True)


if __name__ == "__main__":
    main()
