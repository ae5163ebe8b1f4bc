"""Seconds until a comparison is decided, everything included: workers started, libraries imported, both engines built, the launches.

The same model twice, on one flow: in one worker, where engines are made again for every launch, and in two fresh processes for every
launch, as engines of two environments need them. Of one worker also the launches alone, which is what each further comparison costs there.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from msgspec.structs import replace
from speed_gate import SIZES, chain

from assay.commands.compare import compare_request
from assay.commands.composition import open_services
from assay.core.job import CompareSpeedJob
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.options.compare import CompareOptions
from assay.pipeline.adapters import Services
from assay.pipeline.compare import plan_comparison
from assay.pipeline.references.ensure_references import ensure_references
from assay.pipeline.two_process_comparison import compare_in_two_processes
from assay.stats.sequential_test import answer_at


def planned(folder: Path, flow: str, size: str, services: Services) -> CompareSpeedJob:
    models = [chain(folder / f"{name}.onnx", *SIZES[size], 0.0) for name in ("old", "new")]
    request = compare_request(CompareOptions(models=tuple(models), flows=(flow,)))
    (job,) = services.jobs.complete(plan_comparison(request, services)).jobs
    assert isinstance(job, CompareSpeedJob)
    assert services.jobs.complete(ensure_references([job], services)) == []
    return job


def apart(job: CompareSpeedJob, services: Services) -> Result:
    return services.jobs.complete(compare_in_two_processes(job, services))


def alone(job: CompareSpeedJob, services: Services) -> Result:
    (result,) = services.jobs.complete(services.jobs.together([job]))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flow", default="onnxruntime")
    parser.add_argument("--size", choices=list(SIZES), default="2ms")
    parser.add_argument("--runs", type=int, default=20, help="of each kind")
    arguments = parser.parse_args()
    print(f"{arguments.size} on {arguments.flow}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    took: dict[str, list[float]] = {"one worker": [], "... its launches alone": [], "fresh processes": []}
    words: dict[str, list[str]] = {name: [] for name in took}
    with tempfile.TemporaryDirectory() as name, open_services(f"{name}/history") as services:
        job = planned(Path(name), arguments.flow, arguments.size, services)
        for number in range(arguments.runs):
            for kind, compare in (("one worker", alone), ("fresh processes", apart)):
                again = replace(job, case=replace(job.case, name=f"{job.case.name}-{number}-{kind[:3]}"))
                begin = time.monotonic()
                result = compare(again, services)
                took[kind].append(time.monotonic() - begin)
                assert result.outcome is Outcome.OK, result.detail
                assert result.speeds
                words[kind].append(answer_at(result.speeds[0].launches, job.rule).word)
                if kind == "one worker":
                    spent = next(
                        stage_time.seconds for stage_time in result.stage_times if stage_time.stage is Stage.MEASURE
                    )
                    took["... its launches alone"].append(spent)
    for kind, seconds in took.items():
        count_by_word = {word: words[kind].count(word) for word in dict.fromkeys(words[kind])}
        print(f"{kind:24} median {statistics.median(seconds):6.2f} s, most {max(seconds):6.2f} s {count_by_word or ''}")


if __name__ == "__main__":
    main()
