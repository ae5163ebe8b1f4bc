"""What a worker notes of a job, as a code, numbers and names. `assay.judge.note_text` makes the sentence of it."""

from __future__ import annotations

import enum

import msgspec

from assay.core.finding import Fact


class NoteCode(enum.StrEnum):
    """What is noted. The facts that come with each are the names in its sentence (`assay.judge.note_text`)."""

    NO_REFERENCE = "no_reference"
    NO_REFERENCE_AT_SIZES = "no_reference_at_sizes"
    NO_QUANTIZED_REFERENCE = "no_quantized_reference"
    OWN_CACHE_NOT_ASKED = "own_cache_not_asked"
    REFERENCES_OF_TWO = "references_of_two"
    NO_LOGITS_TOLERANCE = "no_logits_tolerance"
    TOKENS_UNKNOWN = "tokens_unknown"
    ANSWERS_EMPTY = "answers_empty"
    NO_TOLERANCE = "no_tolerance"
    DERIVATION_FAILED = "derivation_failed"
    QUANTIZED_NO_GRAPH = "quantized_no_graph"
    QUANTIZED_NO_TOLERANCE = "quantized_no_tolerance"
    OUTPUT_NOT_EVALUATED = "output_not_evaluated"
    SHAPE_BY_ROUNDING = "shape_by_rounding"
    LOST_TO_NOISE = "lost_to_noise"
    ELEMENTS_NOT_JUDGED = "elements_not_judged"
    TOLERANCE_LEARNT = "tolerance_learnt"
    COMPUTES_IN_DOUBLE = "computes_in_double"
    WITHOUT_NOISE_RULE = "without_noise_rule"
    DEFECTS_NOT_SEEN = "defects_not_seen"
    DERIVED_ON_FIRST = "derived_on_first"
    CONVERSION_UNTRUE = "conversion_untrue"
    HIDDEN_BY_NOISE = "hidden_by_noise"
    PASSES_COARSELY = "passes_coarsely"
    GOLDEN_DISAGREES = "golden_disagrees"
    TIES = "ties"
    SAMPLES_SET_ASIDE = "samples_set_aside"
    EXACT_IN_COARSE_TYPE = "exact_in_coarse_type"
    CLOSER_THAN_TYPE = "closer_than_type"
    LITTLE_NOISE = "little_noise"
    FEW_IN_PRECISION = "few_in_precision"
    DRIFTED = "drifted"
    COMPANION_LEFT_OUT = "companion_left_out"
    REFERENCE_BY_ITSELF = "reference_by_itself"
    REFERENCE_BY_ANOTHER = "reference_by_another"
    NEW_NOT_IN_DOUBLE = "new_not_in_double"
    OLD_NOT_IN_DOUBLE = "old_not_in_double"
    INPUT_NOT_FED = "input_not_fed"
    INPUT_CONVERTED = "input_converted"
    OUTPUT_NOT_COMPARED = "output_not_compared"
    NO_LOG_PROBABILITIES = "no_log_probabilities"
    OTHER_PROMPTS_PASS = "other_prompts_pass"
    NO_TOKENIZER = "no_tokenizer"
    NO_CHAT_TEMPLATE = "no_chat_template"
    NO_DRAWS = "no_draws"
    DRAWS_NOT_JUDGED = "draws_not_judged"
    WAYS_NOT_JUDGED = "ways_not_judged"
    CORRECTED_AS_INVALID = "corrected_as_invalid"
    CORRECTED_AS_REFUSED = "corrected_as_refused"
    KEPT_REFUSAL = "kept_refusal"
    OPTIMIZED_NOT_LOADABLE = "optimized_not_loadable"
    NO_PROFILE = "no_profile"
    NO_TRACE = "no_trace"
    TRACE_FAILED = "trace_failed"
    OPERATORS_NOT_TIMED = "operators_not_timed"
    LIBRARY_SAID = "library_said"
    PROCESS_CHANGED = "process_changed"
    MESSAGES_IGNORED = "messages_ignored"
    AGAIN_AFTER_SIGNAL = "again_after_signal"
    AGAIN_AFTER_STOP = "again_after_stop"
    AGAIN_AFTER_BUSY_MACHINE = "again_after_busy_machine"
    RAISED = "raised"
    TOOL_FAILED = "tool_failed"
    REFUSED = "refused"
    DISK_FULL = "disk_full"
    NOTHING_DELEGATED = "nothing_delegated"
    WRONG_USE_REFUSED = "wrong_use_refused"
    WRONG_USE_ALLOWED = "wrong_use_allowed"
    RESULT_NOT_WRITTEN = "result_not_written"
    BASELINE_UNUSABLE = "baseline_unusable"
    ARTIFACT_CHANGED = "artifact_changed"
    ARTIFACT_GONE = "artifact_gone"
    TOO_FEW_CORES = "too_few_cores"
    CPU_CLOCK_STOPPED = "cpu_clock_stopped"
    DEVICE_CLOCK_STOPPED = "device_clock_stopped"
    NVML_NOT_INSTALLED = "nvml_not_installed"
    NVML_SAYS = "nvml_says"
    SIZES_BY_TRIAL = "sizes_by_trial"
    ONE_VALUE_FED = "one_value_fed"
    FEW_PLACES = "few_places"
    ASCENDING_FED = "ascending_fed"
    BITS_FED = "bits_fed"
    ONES_FED = "ones_fed"
    TRUTHS_FED = "truths_fed"
    UNIFORM_FED = "uniform_fed"


LONGEST = 2000
"""Characters kept of the text of an exception."""


class Note(msgspec.Struct, frozen=True, eq=False):
    """`facts` are numbers, names, and what others say in their own words: the text of an exception, a line of a log."""

    code: NoteCode
    facts: dict[str, Fact] = {}

    def __eq__(self, other: object) -> bool:
        """Of the same bytes: a NaN among the facts is the same NaN."""
        return isinstance(other, Note) and msgspec.msgpack.encode(self) == msgspec.msgpack.encode(other)

    def __hash__(self) -> int:
        return hash(msgspec.msgpack.encode(self))


class NoteWarning(UserWarning):
    """A note on its way through Python's `warnings`, which any depth of the worker can give."""

    def __init__(self, note: Note) -> None:
        super().__init__(f"{note.code.value} {note.facts}")
        self.note = note


def noted(code: NoteCode, **facts: Fact) -> Note:
    """A note with its facts, by name."""
    return Note(code, facts)
