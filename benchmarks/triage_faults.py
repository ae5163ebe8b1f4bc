"""How well `assay triage` finds faults that were planted: wrong rewrites and wrong operators at random sites of nets of 100 to 1,000
nodes, a third of them gone when any output is added. One JSON line a fault, then the figures of docs/benchmarks.md.

    python benchmarks/triage_faults.py [FAULTS] [--seed SEED] [--out FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from assay.commands.triage import run_triage
from assay.core.flow import Flow
from assay.errors import UsageError
from assay.options.triage import TriageOptions
from assay.testing.faulty_rewrites import KERNELS, REWRITES
from assay.testing.miscompiler import Miscompiler
from assay.testing.planted_nets import SIZE, PlantedNet
from assay.triage.cause import Cause, Where

SIZES = (100, 100, 100, 200, 200, 400, 1000)
"""Nodes of the nets, in turn."""
SMALL = 150
SEEN = 1e-5
"""Of the largest number of an answer."""


def planted(count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """What is planted where: each fault in turn, the net and the site drawn."""
    faults = [*REWRITES, *KERNELS]
    random = np.random.default_rng(seed)
    for number in range(count):
        yield {
            "fault": faults[(number + number // len(SIZES)) % len(faults)],
            "nodes": SIZES[number % len(SIZES)] if number < count else 100,
            "seed": seed + number,
            "place": float(random.uniform()),
            "untapped": number % 3 == 2,
        }


def tried(plan: dict[str, Any], folder: Path) -> dict[str, Any]:
    """One fault: what was found of it, beside what it is."""
    net = PlantedNet(plan["nodes"], plan["seed"])
    sites = net.sites[plan["fault"]]
    drawn = int(plan["place"] * len(sites))
    path = folder / "net.onnx"
    onnx.save(net.model, path)
    for site in [*sites[drawn:], *sites[:drawn]]:
        if not shows(path, {"fault": plan["fault"], "site": site[-1]}):
            continue
        with contextlib.suppress(UsageError):  # no red verdict: what follows hides the fault
            return {**plan, "nodes": len(net.model.graph.node), **_tried(plan, site, path, folder)}
    raise SystemExit(f"{plan} shows nowhere")


def shows(path: Path, fault: dict[str, Any]) -> bool:
    """Whether the answer of the whole net changes by more than rounding."""
    backend = Miscompiler()
    inputs = {"x": np.random.default_rng(1).normal(size=(1, 3, SIZE, SIZE)).astype(np.float32)}
    right, wrong = (
        next(
            iter(
                backend.lower(path, Flow(name="miscompiler", backend="miscompiler", options=options))
                .run(inputs)
                .values()
            )
        )
        for options in ({}, fault)
    )
    return float(np.abs(right - wrong).max()) > SEEN * float(np.abs(right).max())


def _tried(plan: dict[str, Any], site: list[str], path: Path, folder: Path) -> dict[str, Any]:
    first: list[float] = []
    begin, begin_cpu = time.perf_counter(), processor_s()
    options = TriageOptions(
        target=str(path),
        flows=("miscompiler",),
        options={"fault": plan["fault"], "site": site[-1], "untapped": plan["untapped"]},
        history=str(folder / "history"),
        output=folder / "triage",
    )
    triaged = run_triage(options, tell=lambda text: first.append(time.perf_counter() - begin))
    seconds = time.perf_counter() - begin
    return {
        **judged(triaged.causes, site, plan),
        "first_s": min(first, default=None),
        "seconds": seconds,
        "cpu_s": processor_s() - begin_cpu,
    }


def processor_s() -> float:
    """Of this process and of all its children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def judged(causes: tuple[Cause, ...], site: list[str], plan: dict[str, Any]) -> dict[str, Any]:
    """Whether the first cause is the fault."""
    cause = causes[0]
    named = [node.partition(" ")[0] for node in cause.nodes]
    kernel = plan["fault"] in KERNELS
    where = Where.NODE if len(site) == 1 else Where.COMBINATION
    return {
        "causes": len(causes),
        "is_fault": set(site) <= set(named),
        "reduced": set(site) <= set(named) and len(named) <= len(site) + 1,
        "named": cause.where is where and set(site) <= set(named),
        "brought": cause.kernel if kernel else bool(cause.cures) and cause.cures[0].names == (plan["fault"],),
        "found_nodes": named,
        "probes": cause.asked,
        "doubts": list(cause.doubts),
    }


def figures(rows: list[dict[str, Any]]) -> dict[str, str]:
    """As the table of docs/benchmarks.md has them."""

    def share(name: str, of: list[dict[str, Any]]) -> str:
        return f"{sum(bool(row[name]) for row in of)} of {len(of)}"

    hidden = [row for row in rows if row["untapped"]]
    return {
        "reduced to the cause + 1": share("reduced", rows),
        "node or combination": share("named", rows),
        "pass or kernel": share("brought", rows),
        "gone under observation, localized": share("is_fault", hidden),
        "another defect": f"{sum(not row['is_fault'] for row in rows)} of {len(rows)}",
        "seconds, nets of 100": spread([row["seconds"] for row in rows if row["nodes"] < SMALL]),
        "seconds, all": spread([row["seconds"] for row in rows]),
        "processor seconds, all": spread([row["cpu_s"] for row in rows]),
        "seconds to the first sentence": spread([row["first_s"] or 0.0 for row in rows]),
    }


def spread(seconds: list[float]) -> str:
    """Median and longest."""
    return f"median {statistics.median(seconds):.0f}, longest {max(seconds):.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("faults", nargs="?", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="leave out those before")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    said = parser.parse_args()
    rows = []
    for plan in list(planted(said.faults, said.seed))[said.first :]:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(tried(plan, Path(folder)))
        print(json.dumps(rows[-1]), flush=True)
        if said.out:
            said.out.write_text("\n".join(map(json.dumps, rows)) + "\n")
    for name, text in figures(rows).items():
        print(f"{name}: {text}")


if __name__ == "__main__":
    main()
