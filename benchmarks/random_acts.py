"""A fuzzer of the wall: random misbehaviour at random moments among innocent jobs. How many innocent ones are blamed or lost, and what is
left behind? `--seed` and `--only` repeat one round."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from assay.launch.pool import Pool
from assay.testing.act_checks import INNOCENT, identity_golden, interpreter_of, launched
from assay.testing.acts import ACTS
from assay.testing.random_acts import random_acts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=5_000)
    parser.add_argument("--each", type=int, default=250, help="jobs of one launch")
    parser.add_argument("--share", type=float, default=0.1, help="of the jobs that misbehave")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(ACTS), help="these acts")
    arguments = parser.parse_args()
    total, guilty, wrong_guilty, wrong, lost, remains = 0, 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        model, golden = identity_golden(Path(folder))
        for seed in range(arguments.seed, arguments.seed + -(-arguments.jobs // arguments.each)):
            jobs = random_acts(arguments.each, arguments.share, model, golden, seed=seed, acts=arguments.only)
            begin = time.perf_counter()
            problems, left = launched(jobs, Pool(arguments.workers, interpreter=interpreter_of).launch)
            total, guilty = total + len(jobs), guilty + sum(bool(job.act) for job in jobs)
            blamed = {name for name in problems if name.startswith(INNOCENT)}
            wrong, wrong_guilty = wrong + len(blamed), wrong_guilty + len(problems) - len(blamed)
            lost, remains = lost + sum(text == "no result" for text in problems.values()), remains + len(left)
            print(
                f"seed {seed}, load {os.getloadavg()[0]:.1f}, {time.perf_counter() - begin:.0f} s; "
                f"so far {total} jobs, {guilty} misbehave: "
                f"{wrong} innocent blamed, {lost} lost, {remains} left behind, {wrong_guilty} misbehaving told otherwise",
                flush=True,
            )
            for name, problem in sorted(problems.items()):
                print(f"  {name}: {problem}")
            for what in left:
                print(f"  left: {what}", flush=True)


if __name__ == "__main__":
    main()
