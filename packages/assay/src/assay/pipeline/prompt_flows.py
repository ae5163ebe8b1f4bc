"""What flows that continue prompts cannot be asked: said before anything starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.golden import SKETCH
from assay.core.note import NoteCode, noted
from assay.errors import BadGolden, HarnessError, UsageError
from assay.judge.words.note_text import note_text
from assay.models.own_data.prompts.short_goldens import is_of_prompts
from assay.models.own_data.prompts.signature import signature_of
from assay.pipeline.references.own_data import form_of
from assay.plugins import BACKENDS, load
from assay.ports import is_prompted


def check_prompt_flows(flows: Sequence[Flow], inputs: Inputs, by_flag: Mapping[str, object]) -> None:
    """Raises UsageError where a golden of sketches is to judge such a flow, or one of these options, by name, asks for its tensors."""
    flow = next((candidate.name for candidate in flows if _continues_prompts(candidate)), "")
    option = next((name for name, value in by_flag.items() if value), "")
    if flow and form_of(inputs.golden) == SKETCH:
        raise UsageError(note_text(noted(NoteCode.SKETCHES_OF_SERVICE, flow=flow, golden=inputs.golden)))
    if flow and option:
        raise UsageError(
            f"flow {flow} continues prompts, and gives no tensors for {option}: choose a flow that does, or leave that out"
        )


def check_prompts(flows: Sequence[Flow], case: Case) -> None:
    """Raises UsageError where such a flow is asked of a language model, whose inputs are no prompts. What it makes of another model it
    says itself."""
    flow = next((candidate.name for candidate in flows if _continues_prompts(candidate)), "")
    if flow and _is_language_model(case) and not _has_prompts(case.inputs):
        raise UsageError(note_text(noted(NoteCode.NO_PROMPTS, flow=flow, model=case.name)))


def _continues_prompts(flow: Flow) -> bool:
    """False where its backend is not here, or broken: that is told of its jobs."""
    try:
        return is_prompted(load(BACKENDS, flow.backend)())
    except (HarnessError, UsageError):
        return False


def _is_language_model(case: Case) -> bool:
    try:
        signature_of(case.model, {})
    except BadGolden:
        return False
    return True


def _has_prompts(inputs: Inputs) -> bool:
    """Of a folder that is broken whoever reads it says why."""
    folder = inputs.golden or inputs.given
    try:
        return bool(folder) and is_of_prompts(Path(folder))
    except BadGolden:
        return True
