"""The defects that are built into a model to see whether its tolerance finds them."""

from __future__ import annotations

import enum

import msgspec


class DefectKind(enum.StrEnum):
    """What is wrong in a model into which a defect was built: the words are those of `assay.judge.words.defect_text`."""

    ROUNDED = "rounded"
    ALL_LOST = "all_lost"
    CHANNEL_LOST = "channel_lost"
    CHANNEL_OF_OUTPUT_LOST = "channel_of_output_lost"
    TERM_LOST = "term_lost"
    SCALED = "scaled"
    SHIFTED = "shifted"
    TENSOR_ENLARGED = "tensor_enlarged"
    INPUTS_ENLARGED = "inputs_enlarged"


class Defect(msgspec.Struct, frozen=True):
    """One defect: the node or tensor that it is at ("": all inputs), and its size (0: none)."""

    kind: DefectKind
    at: str = ""
    size: float = 0.0


class OpenRange(enum.StrEnum):
    """What bounds an output of whole numbers, or of values that step, that no single operator decides."""

    NOISY_EVALUATIONS = "noisy_evaluations"
    PERTURBED_RUNS = "perturbed_runs"
