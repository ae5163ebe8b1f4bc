"""Simulated histories of 300 commits: false alarms without a change, and how soon two steps and a creep are seen."""

from __future__ import annotations

import argparse
import os

import numpy as np

from assay.stats.cusum import alarms
from assay.stats.step_changes import step_changes

COMMITS = 300
STEPS = ((80, "+3 % at once", 1.03), (220, "+5 % at once", 1.05))
CREEP = (130, 190, 1.001)
REACH = 40


def history(rng: np.random.Generator, *, changed: bool) -> np.ndarray:
    """Milliseconds: spread of 0.8 % that varies, and two in a hundred runs 8 to 40 % too long."""
    spread = 0.008 * rng.uniform(0.6, 1.4)
    values = 2.0 * np.exp(spread * rng.standard_normal(COMMITS) * rng.uniform(0.7, 1.3, COMMITS))
    wild = rng.random(COMMITS) < 0.02
    values[wild] *= rng.uniform(1.08, 1.4, int(wild.sum()))
    if changed:
        for place, _, factor in STEPS:
            values[place:] *= factor
        growth = np.clip(np.arange(COMMITS) - CREEP[0], 0, CREEP[1] - CREEP[0])
        values *= CREEP[2] ** growth
    return values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20261121)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    quiet = [len(alarms(list(history(rng, changed=False)))) for _ in range(arguments.histories)]
    print(f"{arguments.histories} histories of {COMMITS} commits, seed {arguments.seed}, load {os.getloadavg()[0]:.1f}")
    print(f"no change: {sum(quiet) / len(quiet):.3f} false alarms a history")
    windows = [
        (STEPS[0][1], STEPS[0][0], CREEP[0]),
        ("+0.1 % a commit", CREEP[0], CREEP[1] + REACH - 10),
        (STEPS[1][1], STEPS[1][0], COMMITS),
    ]
    delays: dict[str, list[int]] = {name: [] for name, _, _ in windows}
    extra, located = 0, {name: 0 for _, name, _ in STEPS}
    for _ in range(arguments.histories):
        values = list(history(rng, changed=True))
        positions = alarms(values)
        for name, first, last in windows:
            inside = [place for place in positions if first <= place < last]
            if inside:
                delays[name].append(inside[0] - first)
        extra += sum(not any(first <= place < last for _, first, last in windows) for place in positions)
        changes = [change.place for change in step_changes(values)]
        for place, name, _ in STEPS:
            located[name] += any(abs(change - place) <= 2 for change in changes)
    print(f"{'':18}{'found':>8}{'median delay':>14}{'located +-2':>13}")
    for name, _, _ in windows:
        share = 100 * len(delays[name]) / arguments.histories
        where = f"{100 * located[name] / arguments.histories:.0f} %" if name in located else "-"
        print(f"{name:18}{share:6.1f} %{np.median(delays[name]):14.0f}{where:>13}")
    print(f"alarms outside of all windows: {extra / arguments.histories:.3f} a history")


if __name__ == "__main__":
    main()
