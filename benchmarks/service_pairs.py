"""Two deployments of one model compared as `assay load --service new --against old` does: the same twice (A/A), and with real extra work.

python benchmarks/service_pairs.py [--comparisons N] [--extra 0 0.1 0.05] [--rate 10] [--seconds 3] [--pairs 20] [--record FILE]
python benchmarks/service_pairs.py --resample FILE [--comparisons 500]

A comparison takes minutes, so that 500 of them take a day and more. `--record` keeps each restart of both services that was measured;
`--resample` draws restarts from these, with replacement and as often with the new one first as second, and lets the rule decide of each
drawn comparison, as the command does after each restart: the restarts are real, their order and number are simulated. What is common to
all recorded restarts stays in. Of restarts without extra work it also tells what the rule says where all are slower by 10 % and by 5 %.

The extra work is products of matrices in each step, for that share of the time that the step took. What it adds to the first token is
less than the share, and is measured: the mean of all pairs. Run it on a machine that does nothing else, or say what it did.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import socket
import sys
import time
from pathlib import Path

from assay.core.service import Service
from assay.core.speed import SpeedRule, interim_looks
from assay.judge.service_speed import decided, word_of
from assay.serving.arrivals import arrivals
from assay.serving.comparison import Comparison, block_of, compare_services
from assay.serving.requests import Mix, read_mix_prompts
from assay.stats.sequential_test import SpeedAnswer

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


def resampled(file: Path, comparisons: int, most: int) -> None:
    """What the rule says of comparisons that are drawn from recorded restarts."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for extra in sorted({row["extra"] for row in rows}):
        own = [row for row in rows if row["extra"] == extra]
        good = [row for row in own if row["counts"]]
        print(f"extra {extra:.0%}: {len(good)} of {len(own)} restarts count", flush=True)
        sides = [[row["ratios"] for row in good if row["new_first"] is first] for first in (True, False)]
        if not all(sides):
            continue
        for shift in (0.0, 0.1, 0.05) if extra == 0.0 else (0.0,):
            words = [_drawn(sides, shift, most, seed) for seed in range(comparisons)]
            text = ", ".join(f"{word} {words.count(word)}" for word in dict.fromkeys(words))
            print(f"extra {extra:.0%}, all slower by {shift:.0%}: {text}, of {comparisons} drawn", flush=True)


def _drawn(sides: list[list[dict[str, float]]], shift: float, most: int, seed: int) -> str:
    draw = random.Random(seed)
    rule = SpeedRule(min_slowdown=0.05, margin=0.1, looks=interim_looks(most))
    ratios: list[dict[str, float]] = []
    firsts: list[bool] = []
    words: list[SpeedAnswer] = []
    while len(ratios) < rule.looks[-1]:
        for first in draw.sample([True, False], 2):
            row = draw.choice(sides[0 if first else 1])
            ratios.append({name: one + (math.log1p(shift) if name != "goodput" else 0.0) for name, one in row.items()})
            firsts.append(first)
            words = [one.word for one in decided(ratios, firsts, rule).values()]
            if words and "inconclusive" not in words:
                return word_of(words, (0, 0), 0)
    return word_of(words, (0, 0), 0)


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
    said.add_argument("--record", type=Path, help="append each restart to this file")
    said.add_argument("--resample", type=Path, help="a file of --record")
    asked = said.parse_args()
    if asked.resample:
        resampled(asked.resample, asked.comparisons, asked.pairs)
        return
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for extra in asked.extra:
        words = []
        for seed in range(asked.first, asked.first + asked.comparisons):
            began = time.monotonic()
            found = compared(extra, seed, asked)
            if asked.record:
                with asked.record.open("a", encoding="utf-8") as file:
                    for one in found.pairs:
                        row = {
                            "extra": extra,
                            "ratios": one.ratios,
                            "new_first": one.new_first,
                            "counts": not one.trouble,
                        }
                        file.write(json.dumps(row) + "\n")
            words.append(found.word)
            text = ", ".join(
                f"{name} {one.word} {100 * math.expm1(one.mean):+.1f} %" for name, one in found.answers.items()
            )
            print(
                f"extra {extra:.0%}, seed {seed}: {found.word}, {len(found.pairs)} pairs, {time.monotonic() - began:.0f} s, "
                f"load {os.getloadavg()[0]:.1f}; {text}; not counted {found.troubles}",
                flush=True,
            )
        print(
            f"extra {extra:.0%}: {', '.join(f'{one} {words.count(one)}' for one in dict.fromkeys(words))}", flush=True
        )


if __name__ == "__main__":
    main()
