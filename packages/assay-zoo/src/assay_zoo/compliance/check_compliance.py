"""Whether a model follows the ONNX specification and the zoo's bounds, by model, graph, node, attribute and function."""

from __future__ import annotations

import time
from pathlib import Path, PurePosixPath

import msgspec

from assay.core.model_finding import ModelFinding
from assay.errors import HarnessError
from assay.models.examination.quoting import shown
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.compliance.report import report
from assay_zoo.compliance.request import ClaimedPort, Request
from assay_zoo.compliance.subprocess_check import ChildLimits, examine_apart
from assay_zoo.metadata import Port
from assay_zoo.submission import SubmissionContext, SubmissionServices
from assay_zoo.zoo_files import METADATA

LIMITS = ChildLimits()


def check_compliance(
    place: SubmissionContext,
    tools: SubmissionServices,  # noqa: ARG001
    *,
    limits: ChildLimits = LIMITS,
) -> list[Check]:
    """Every part as checks of its own. The model is opened in a child with limits alone."""
    started = time.monotonic()
    name = place.metadata.model if place.metadata else "model.onnx"
    if not _inside(name):
        sentence = f"metadata.toml names the model {shown(name)}, outside of the submission; give a file inside it"
        return [Check("compliance.model", CheckOutcome.FAILED, sentence, "metadata.toml")]
    try:
        examination = examine_apart(request_of(place), limits)
    except HarnessError as error:
        return [Check("compliance.model", CheckOutcome.INFRASTRUCTURE, str(error), name)]
    seconds = time.monotonic() - started
    checks = report(
        [_without(finding, place.folder) for finding in examination.findings],
        examination.counts,
        name,
        seconds,
        examination.unseen,
    )
    checks += [_puzzle(text, name) for text in examination.puzzles]
    return checks + _unclaimed(place)


def _without(finding: ModelFinding, folder: Path) -> ModelFinding:
    """Without the folder of the machine that looked: a report is published."""
    values = tuple(
        value.replace(f"{folder.absolute()}/", "") if isinstance(value, str) else value for value in finding.values
    )
    return msgspec.structs.replace(finding, values=values)


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\0" not in name


def request_of(place: SubmissionContext) -> Request:
    """What the policy and the metadata ask of the model."""
    policy, metadata = place.policy, place.metadata
    return Request(
        model=str((place.folder / (metadata.model if metadata else "model.onnx")).absolute()),
        domains=policy.domains,
        opset=policy.opset,
        ir=policy.ir,
        allocation_bytes=policy.allocation_bytes,
        loop_trips=policy.loop_trips,
        claimed_opset=metadata.opset if metadata else 0,
        claimed_inputs=_claimed(metadata.inputs if metadata else ()),
        claimed_outputs=_claimed(metadata.outputs if metadata else ()),
    )


def _claimed(ports: tuple[Port, ...]) -> tuple[ClaimedPort, ...]:
    return tuple(ClaimedPort(port.name, port.dtype, port.shape) for port in ports)


def _unclaimed(place: SubmissionContext) -> list[Check]:
    """What is not looked at is said: an author mends metadata.toml once, not twice."""
    if place.metadata is not None:
        return []
    sentence = f"not executed: opset, inputs and outputs are compared with {METADATA}, which must hold first"
    return [Check("compliance.claims", CheckOutcome.SKIPPED, sentence, METADATA)]


def _puzzle(text: str, path: str) -> Check:
    return Check("compliance.model", CheckOutcome.UNDECIDED, text, path)
