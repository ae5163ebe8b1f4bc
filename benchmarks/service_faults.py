"""Faults planted in a served language model, and how many `assay check --endpoint` catches; right services, and how many it blames.

python benchmarks/service_faults.py [--right N] [--fault NAME ...]

Each fault is served by the small server of assay.testing on the loopback, and verified as a worker does it. Run it on a quiet machine or
not: no time is measured.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from pathlib import Path

import msgspec

import assay
from assay.core.job import VerifyJob
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.judge.job_outcome import with_outcome
from assay.plugins import find_flow
from assay.testing.language_server.app import Settings
from assay.testing.language_server.planted_faults import FAULTS
from assay.testing.language_server.running import running
from assay.worker.stages import Stages
from assay.worker.verify.verify import verify

HERE = Path(__file__).parents[1] / "examples" / "language-model"
TOKENIZER = HERE / "tokenizer.json"
ROTARY_ALONE = ("rotary-base", "rotary-scale", "head-groups")
"""Faults of parts that the model with learned positions does not have."""


def prepared(name: str, folder: Path) -> VerifyJob:
    """The job of a check of this model, its reference answers and its derived tolerance in the folder."""
    checked = assay.check(
        HERE / "models" / f"{name}.onnx",
        inputs=HERE / "prompts.txt",
        tokenizer=TOKENIZER,
        flows=("onnxruntime",),
        measure=False,
        require=("budget <= 0.999",),
        history=folder,
    )
    job = next(act for act in checked.run.jobs if isinstance(act, VerifyJob))
    profile = next(path for path in (folder / "profiles").iterdir() if not path.name.endswith("coarse"))
    return msgspec.structs.replace(job, tolerance_dir=str(profile))


def served(job: VerifyJob, settings: Settings, draws: int = 400) -> VerifyResult:
    """The verdict on such a server."""
    with running(settings) as address, tempfile.TemporaryDirectory() as scratch:
        options = {
            "url": f"{address}/v1",
            "tokenizer": str(TOKENIZER),
            "chat_template": str(HERE / "chat_template.jinja"),
            "draws": draws,
        }
        flow = msgspec.structs.replace(find_flow("openai"), options=options)
        asked = msgspec.structs.replace(job, flow=flow, scratch=scratch)
        result = with_outcome(verify(asked, Stages(lambda stage: None)), asked)
    assert isinstance(result, VerifyResult)
    return result


def main() -> None:
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--right", type=int, default=20, help="right services of each model")
    said.add_argument("--fault", action="append", default=[])
    said.add_argument("--models", nargs="*", default=["rotary", "learned"])
    said.add_argument(
        "--history", type=Path, default=Path(tempfile.gettempdir()) / "service-faults", help="kept between runs"
    )
    asked = said.parse_args()
    caught = planted = wrong = right = 0
    began = time.monotonic()
    for name in asked.models:
        job = prepared(name, asked.history / name)
        weights = HERE / f"{name}.safetensors"
        for fault in asked.fault or FAULTS:
            if name == "learned" and fault in ROTARY_ALONE:
                continue
            result = served(job, Settings(weights, TOKENIZER, faults=frozenset({fault})))
            planted, caught = planted + 1, caught + (result.outcome is Outcome.MISMATCH)
            used = max((comparison.metrics["budget_used"] for comparison in result.comparisons), default=0.0)
            print(f"{name:8} {fault:22} {result.outcome:10} {used:10.3g}  {result.detail[:150]}", flush=True)
        batches, delays, caches = (1, 2, 3, 5, 8), (0.0, 0.002), (True, False)
        for batch, delay, cache in itertools.islice(
            itertools.cycle(itertools.product(batches, delays, caches)), asked.right
        ):
            result = served(job, Settings(weights, TOKENIZER, batch=batch, delay_s=delay, prefixes=cache))
            right, wrong = right + 1, wrong + (result.outcome is not Outcome.OK)
            used = max((comparison.metrics["budget_used"] for comparison in result.comparisons), default=0.0)
            print(
                f"{name:8} right, batch {batch}, delay {delay}, cache {cache}: {result.outcome} {used:.3g} {result.detail[:150]}",
                flush=True,
            )
    print(f"caught {caught} of {planted}; right services blamed {wrong} of {right}; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
