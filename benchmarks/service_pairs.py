"""Two deployments of one model compared as `assay load --service new --against old` does: the same twice (A/A), and with real extra work.

python benchmarks/service_pairs.py [--comparisons N] [--extra 0 0.1 0.05] [--rate 10] [--seconds 3] [--pairs 20] [--record FILE]
python benchmarks/service_pairs.py --resample FILE [--comparisons 500] [--pairs 20] [--min-slowdown 5]

A comparison takes minutes, so that 500 of them take a day and more. `--record` keeps each restart of both services that was measured
(`--all`: however soon the rule has its answer); `--resample` draws restarts from these, with replacement and as often with the new one
first as second, and lets the rule decide of each drawn comparison, as the command does after each restart: the restarts are real, their
order and number are simulated. Where both services are the same, which of them is called the new one is drawn, too: what is common to all
such restarts is then no difference of the services. Of restarts with extra work it stays in. Of those without, it also tells what the rule
says where all figures are worse by 10 % and by 5 %, and where goodput alone is less by 5 %.

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from assay.core.service import Service
from assay.core.speed import SpeedRule, interim_looks
from assay.judge.service_speed import METRICS, decided, word_is_final, word_of
from assay.serving.arrivals import arrivals
from assay.serving.comparison import Comparison, block_of, compare_services
from assay.serving.requests import Mix, read_mix_prompts
from assay.stats.sequential_test import SpeedAnswer

HERE = Path(__file__).parents[1] / "examples" / "language-model"
LIVES_S = 600


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


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
    rule = rule_of(asked)
    return compare_services(old, new, block, rule=rule, objectives={"ttft": asked.objective}, seed=seed)


def rule_of(asked: argparse.Namespace) -> SpeedRule:
    """As the command makes it; with `--all` it looks at the end alone."""
    least = asked.min_slowdown / 100
    looks = (asked.pairs,) if asked.all else interim_looks(asked.pairs)
    return SpeedRule(min_slowdown=least, margin=2 * least, looks=looks)


SHIFTS = {
    "": {},
    ", all worse by 10 %": dict.fromkeys(METRICS, math.log1p(0.1)) | {"goodput": 0.0},
    ", all worse by 5 %": dict.fromkeys(METRICS, math.log1p(0.05)) | {"goodput": 0.0},
    ", goodput less by 5 %": {"goodput": -math.log1p(-0.05)},
}
"""What is added to the logarithms of restarts without extra work."""


def resampled(asked: argparse.Namespace) -> None:
    """What the rule says of comparisons that are drawn from recorded restarts."""
    rows = [json.loads(line) for line in asked.resample.read_text("utf-8").splitlines()]
    for extra in sorted({row["extra"] for row in rows}):
        own = [row for row in rows if row["extra"] == extra]
        good = [row for row in own if row["counts"]]
        print(f"extra {extra:.0%}: {len(good)} of {len(own)} restarts count, of {_mean(own, 'seconds'):.0f} s each")
        for name in METRICS:
            some = [row["ratios"][name] for row in good if name in row["ratios"]]
            if len(some) > 1:
                print(
                    f"  {name}: {100 * math.expm1(fmean(some)):+.1f} %, spread of a restart {100 * stdev(some):.1f} %"
                )
        if extra == 0.0:
            turned = [{name: -ratio for name, ratio in row["ratios"].items()} for row in good]
            good += [
                {"ratios": ratios, "new_first": not row["new_first"]} for ratios, row in zip(turned, good, strict=True)
            ]
        sides = [[row["ratios"] for row in good if row["new_first"] is first] for first in (True, False)]
        if not all(sides):
            continue
        for what, shift in SHIFTS.items() if extra == 0.0 else [("", {})]:
            drawn = [_drawn(sides, shift, rule_of(asked), seed) for seed in range(asked.comparisons)]
            words = [word for word, _ in drawn]
            text = ", ".join(f"{word} {words.count(word)}" for word in dict.fromkeys(words))
            counts = sorted(count for _, count in drawn)
            most = counts[math.ceil(0.95 * len(counts)) - 1]
            print(
                f"extra {extra:.0%}{what}: {text}, of {asked.comparisons} drawn; {fmean(counts):.1f} restarts, 95 % with {most} at most",
                flush=True,
            )


def _mean(rows: Sequence[dict[str, Any]], name: str) -> float:
    return fmean(row.get(name, math.nan) for row in rows)


def _drawn(
    sides: Sequence[Sequence[dict[str, float]]], shift: Mapping[str, float], rule: SpeedRule, seed: int
) -> tuple[str, int]:
    """The word, and how many restarts it took."""
    draw = random.Random(seed)
    ratios: list[dict[str, float]] = []
    firsts: list[bool] = []
    words: list[SpeedAnswer] = []
    while len(ratios) < rule.looks[-1]:
        for first in draw.sample([True, False], 2):
            row = draw.choice(sides[0 if first else 1])
            ratios.append({name: ratio + shift.get(name, 0.0) for name, ratio in row.items()})
            firsts.append(first)
            if len(ratios) in rule.looks:
                answers = decided(ratios, firsts, rule)
                words = [answer.word for answer in answers.values()]
                if word_is_final(answers):
                    return word_of(words, (0, 0), 0), len(ratios)
    return word_of(words, (0, 0), 0), len(ratios)


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
    said.add_argument("--min-slowdown", type=float, default=5.0, help="percent below which a slowdown is ignored")
    said.add_argument("--all", action="store_true", help="measure --pairs restarts, however soon the rule is sure")
    asked = said.parse_args()
    if asked.resample:
        resampled(asked)
        return
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for extra in asked.extra:
        words = []
        for seed in range(asked.first, asked.first + asked.comparisons):
            began = time.monotonic()
            comparison = compared(extra, seed, asked)
            if asked.record:
                with asked.record.open("a", encoding="utf-8") as file:
                    for pair in comparison.pairs:
                        row = {
                            "extra": extra,
                            "ratios": pair.ratios,
                            "new_first": pair.new_first,
                            "counts": not pair.trouble,
                            "seconds": (time.monotonic() - began) / len(comparison.pairs),
                        }
                        file.write(json.dumps(row) + "\n")
            words.append(comparison.word)
            text = ", ".join(
                f"{name} {answer.word} {100 * math.expm1(answer.mean):+.1f} %"
                for name, answer in comparison.answers.items()
            )
            print(
                f"extra {extra:.0%}, seed {seed}: {comparison.word}, {len(comparison.pairs)} pairs, {time.monotonic() - began:.0f} s, "
                f"load {os.getloadavg()[0]:.1f}; {text}; not counted {comparison.troubles}",
                flush=True,
            )
        print(
            f"extra {extra:.0%}: {', '.join(f'{word} {words.count(word)}' for word in dict.fromkeys(words))}",
            flush=True,
        )


if __name__ == "__main__":
    main()
