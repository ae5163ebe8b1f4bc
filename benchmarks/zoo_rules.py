"""Which rules of a zoo's compliance decide something that the checker, the inference and the other rules do not.

`python benchmarks/zoo_rules.py` examines every broken model of `assay.testing` and every bad submission of `examples/zoo/broken`
that compliance must find, and takes one code of finding away at a time. A code without which a model would pass, or would be failed
in another part, is needed; the others are told as such. Codes that fail nothing are remarks.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from assay.core.model_finding import ModelFinding, Severity
from assay.models.examination.steps import examine
from assay.testing.broken_models import CASES, built
from assay_zoo.compliance.check_compliance import request_of
from assay_zoo.compliance.request import Request
from assay_zoo.compliance.sentences import OWN
from assay_zoo.compliance.steps import steps_of
from assay_zoo.metadata import Metadata
from assay_zoo.policy import ZooPolicy
from assay_zoo.submission import SubmissionContext

BROKEN = Path(__file__).parents[1] / "examples" / "zoo" / "broken"
sys.path.insert(0, str(BROKEN))

import good  # noqa: E402 - the builder's modules have short names
from build import build  # noqa: E402
from case import TABLE  # noqa: E402


def main() -> None:
    fires: Counter[str] = Counter()
    needed: dict[str, list[str]] = {}
    models = {**_crafted(), **_submitted()}
    for name, model in models.items():
        failed = [finding for finding in model if finding.severity is not Severity.REMARK]
        parts = {finding.area for finding in failed}
        for code in {finding.code for finding in model}:
            fires[code] += 1
            if parts != {finding.area for finding in failed if finding.code != code}:
                needed.setdefault(code, []).append(name)
    print(f"{len(models)} models; codes of the zoo's own rules, and of those in how many models they decide alone")
    for code in sorted(OWN):
        print(
            f"{code:22} found in {fires[code]:3}, needed in {len(needed.get(code, [])):3}  {' '.join(needed.get(code, [])[:4])}"
        )


def _crafted() -> dict[str, list[ModelFinding]]:
    findings = {}
    for name in CASES:
        with tempfile.TemporaryDirectory() as folder:
            findings[name] = _findings(built(name, Path(folder)), Request(""))
    return findings


def _submitted() -> dict[str, list[ModelFinding]]:
    findings = {}
    for name, case in TABLE.items():
        if case.group != "compliance":
            continue
        with tempfile.TemporaryDirectory() as folder:
            build(Path(folder), case)
            submission = Path(folder) / "submissions" / good.NAME
            findings[name] = _findings(submission / "model.onnx", _asked(submission))
    return findings


def _asked(folder: Path) -> Request:
    import tomllib

    metadata = Metadata.model_validate(tomllib.loads((folder / "metadata.toml").read_text(encoding="utf-8")))
    return request_of(SubmissionContext(folder=folder, root=folder, policy=ZooPolicy(name="z"), metadata=metadata))


def _findings(path: Path, request: Request) -> list[ModelFinding]:
    import msgspec

    return examine(path, steps_of(msgspec.structs.replace(request, model=str(path)))).findings


if __name__ == "__main__":
    main()
