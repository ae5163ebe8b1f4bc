"""Two deployments of one model compared as `assay load --service new --against old` does: the same twice (A/A), and with real extra work.

python benchmarks/service_pairs.py [--comparisons N] [--extra 0 0.1 0.05] [--rate 10] [--seconds 3] [--pairs 20]

The extra work is products of matrices in each step, for that share of the time that the step took. What it adds to the first token is
less than the share, and is measured: the mean of all pairs. Run it on a machine that does nothing else, or say what it did.
"""

from __future__ import annotations

import argparse
import math
import os
import socket
import sys
import time
from pathlib import Path

from assay.core.service import Service
from assay.core.speed import SpeedRule, interim_looks
from assay.serving.arrivals import arrivals
from assay.serving.comparison import Comparison, block_of, compare_services
from assay.serving.requests import Mix, read_mix_prompts

HERE = Path(__file__).parents[1] / "examples" / "language-model"
LIVES_S = 600


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def served(name: str, extra: float, step_s: float) -> Service:
    port = free_port()
    start = (
        f"{sys.executable} -m assay.testing.language_server --weights {HERE / 'rotary.safetensors'} --tokenizer {HERE / 'tokenizer.json'} "
        f"--port {port} --for {LIVES_S} --extra {extra} --step {step_s}"
    )
    return Service(name, f"http://127.0.0.1:{port}/v1", start, f"http://127.0.0.1:{port}/health")


def compared(extra: float, seed: int, asked: argparse.Namespace) -> Comparison:
    old, new = served("old", 0.0, asked.step), served("new", extra, asked.step)
    prompts = read_mix_prompts(HERE / "prompts.txt")
    block = block_of(
        lambda running, service: Mix(running.address, "tiny", prompts, (8, 16)),
        lambda number: arrivals("poisson", asked.rate, asked.seconds, seed=1000 * (seed + 1) + number),
        30.0,
    )
    rule = SpeedRule(min_slowdown=0.05, margin=0.1, looks=interim_looks(asked.pairs))
    return compare_services(old, new, block, rule=rule, objectives={"ttft": asked.objective}, seed=seed)


def main() -> None:
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--comparisons", type=int, default=2)
    said.add_argument("--extra", type=float, nargs="*", default=[0.0, 0.1, 0.05])
    said.add_argument("--rate", type=float, default=10.0)
    said.add_argument("--seconds", type=float, default=3.0)
    said.add_argument("--pairs", type=int, default=20)
    said.add_argument("--step", type=float, default=0.0, help="seconds that each step of both takes longer")
    said.add_argument("--objective", type=float, default=200.0, help="ms to the first token that a good answer keeps")
    said.add_argument("--first", type=int, default=0)
    asked = said.parse_args()
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for extra in asked.extra:
        words = []
        for seed in range(asked.first, asked.first + asked.comparisons):
            began = time.monotonic()
            found = compared(extra, seed, asked)
            words.append(found.word)
            told = ", ".join(
                f"{name} {one.word} {100 * math.expm1(one.mean):+.1f} %" for name, one in found.answers.items()
            )
            print(
                f"extra {extra:.0%}, seed {seed}: {found.word}, {len(found.pairs)} pairs, {time.monotonic() - began:.0f} s, "
                f"load {os.getloadavg()[0]:.1f}; {told}; not counted {found.troubles}",
                flush=True,
            )
        print(
            f"extra {extra:.0%}: {', '.join(f'{one} {words.count(one)}' for one in dict.fromkeys(words))}", flush=True
        )


if __name__ == "__main__":
    main()
