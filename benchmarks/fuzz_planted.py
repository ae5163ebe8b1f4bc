"""How soon does `assay fuzz` find a backend's own optimiser rewriting graphs wrongly?

Each fault of `assay.testing.faulty_rewrites` is planted alone in the backend `miscompiler`; nothing is told. All generators screen in
turn, in this process, until there is a suspect that the same backend without the fault answers rightly.

    python benchmarks/fuzz_planted.py [SECONDS [SEED]]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace

from assay import plugins
from assay.core.case import Case
from assay.core.job import ScreenJob
from assay.core.model import Model
from assay.core.result import ScreenResult
from assay.generators.screen import screen
from assay.testing.faulty_rewrites import KERNELS, REWRITES
from assay.worker.stages import Stages

BATCH = 100


def main(seconds: float, seed: int) -> None:
    found = 0
    print(f"{'fault':<22} {'generator':<14} {'cases':>7} {'CPU s':>7}  operators")
    for fault in (*REWRITES, *KERNELS):
        began, cases = time.process_time(), 0
        told = None
        starts = dict.fromkeys(plugins.names("assay.generators"), 0)
        while told is None and time.process_time() - began < seconds:
            for name in starts:
                result = _screened(name, fault, starts[name], BATCH, seed)
                starts[name] += BATCH
                cases += BATCH
                told = next((one for one in result.suspects if _right_without(name, one.case.index, seed)), None)
                if told is not None:
                    break
        used = time.process_time() - began
        found += told is not None
        where = told.case.generator if told else "-"
        print(
            f"{fault:<22} {where:<14} {cases:>7} {used:>7.1f}  {'+'.join(told.operators) if told else 'not found'}",
            flush=True,
        )
    print(f"{found} of {len(REWRITES) + len(KERNELS)} found, at most {seconds:.0f} CPU s each, seed {seed}")


def _right_without(generator: str, index: int, seed: int) -> bool:
    return not _screened(generator, "none", index, 1, seed).suspects


def _screened(generator: str, fault: str, first: int, count: int, seed: int) -> ScreenResult:
    flow = plugins.find_flow("miscompiler")
    with tempfile.TemporaryDirectory() as folder:
        job = ScreenJob(
            case=Case("fuzz", Model(name="fuzz", source="", digest="")),
            flow=replace(flow, options={"fault": fault}),
            scratch=folder,
            generator=generator,
            version=plugins.load("assay.generators", generator)().version,
            seed=seed,
            first=first,
            count=count,
            seconds=1e9,
            corpus=str(Path(folder) / "corpus"),
            progress=str(Path(folder) / "progress"),
            derive_each=0,
        )
        return screen(job, Stages(lambda stage: None))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0, int(sys.argv[2]) if len(sys.argv) > 2 else 7)
