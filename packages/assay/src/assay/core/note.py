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
    SKETCH_OPEN = "sketch_open"
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
    UNREADABLE_FILE = "unreadable_file"
    FACTORY_CHANGES = "factory_changes"
    VALID_BUT_REFUSED = "valid_but_refused"
    NEW_INPUT_SHAPE = "new_input_shape"
    INPUT_NOT_HELD = "input_not_held"
    NO_ORIGINAL = "no_original"
    FIXED_BATCH = "fixed_batch"
    NO_NUMBERS = "no_numbers"
    NO_TAPS = "no_taps"
    GOLDEN_TYPE = "golden_type"
    NOISE_NOT_LEARNT = "noise_not_learnt"
    VALUE_NOT_EVALUATED = "value_not_evaluated"
    SIMPLIFIED_NOT_EVALUATED = "simplified_not_evaluated"
    SIMPLIFIED_EMPTY = "simplified_empty"
    FILL_NOT_POSITIVE = "fill_not_positive"
    SPARSE_NOT_CUT = "sparse_not_cut"
    PASSES_NOT_TOLD = "passes_not_told"
    NO_PROMPTS = "no_prompts"
    SKETCHES_OF_SERVICE = "sketches_of_service"
    SKETCHES_ARE_NO_ANSWERS = "sketches_are_no_answers"
    PEER_FAILED = "peer_failed"
    PEER_GONE = "peer_gone"
    PEER_NOT_READY = "peer_not_ready"
    PEER_LATE = "peer_late"
    PEER_DIED = "peer_died"
    PEER_NOT_STARTED = "peer_not_started"
    ENGINE_FILES_CHANGED = "engine_files_changed"
    NOT_TIMED_FROM_OUTSIDE = "not_timed_from_outside"
    OTHER_INPUTS = "other_inputs"
    BUILT_FOR_SIZES = "built_for_sizes"
    GAVE_NO_DICT = "gave_no_dict"
    GAVE_NO_NAME = "gave_no_name"
    GAVE_NO_ARRAY = "gave_no_array"
    GAVE_ELEMENTS = "gave_elements"
    GAVE_A_VIEW = "gave_a_view"
    GAVE_NO_STATE = "gave_no_state"
    SUITE_FILE_MISSING = "suite_file_missing"
    NO_OPTION_OF_THREADS = "no_option_of_threads"
    BODY_IN_OWN_TYPES = "body_in_own_types"
    FAILED_IN = "failed_in"
    METRIC_STATES_NONE = "metric_states_none"
    METRIC_STATES_WRONG = "metric_states_wrong"
    METRIC_FAILED = "metric_failed"
    METRIC_NOT_STATED = "metric_not_stated"
    CACHE_LOST = "cache_lost"
    CALLS_NOT_ORDERED = "calls_not_ordered"
    REFUSED_AT_SIZES = "refused_at_sizes"
    FAILED_AT_SIZES = "failed_at_sizes"
    NOT_WRITTEN = "not_written"
    SAMPLES_DIFFER = "samples_differ"
    NOT_IN_NPZ = "not_in_npz"
    NO_INPUTS = "no_inputs"
    UNMET = "unmet"
    TRACE_EMPTY = "trace_empty"
    TRACE_TOO_LARGE = "trace_too_large"
    TRACE_INVALID = "trace_invalid"
    NOT_JSON = "not_json"
    NO_EVENTS = "no_events"
    EVENT_LACKS = "event_lacks"
    NO_DURATIONS = "no_durations"
    EVALUATOR_LACKS = "evaluator_lacks"
    EVALUATOR_REFUSES = "evaluator_refuses"
    EVALUATOR_FAILED = "evaluator_failed"
    NOT_IN_DOUBLE = "not_in_double"
    OUTPUT_NO_TENSOR = "output_no_tensor"
    OUTPUT_NO_NUMBERS = "output_no_numbers"
    NO_NOISE_IN = "no_noise_in"
    NOTHING_REAL = "nothing_real"
    TOO_FEW_DRAWS = "too_few_draws"
    ROWS_DEPEND = "rows_depend"
    ROWS_NOT_AGAIN = "rows_not_again"
    PLACE_NOT_AGAIN = "place_not_again"
    MUTANT_INVALID = "mutant_invalid"


LONGEST = 2000
"""Characters kept of the text of an exception."""


class Note(msgspec.Struct, frozen=True, eq=False):
    """`code` is a `NoteCode`, or one of a room's own in `assay.core.refusals`. `facts` are numbers, names, what others say in their own
    words (the text of an exception, a line of a log), and the note of what led to this one."""

    code: str
    facts: dict[str, Fact | Note] = {}

    def __eq__(self, other: object) -> bool:
        """Of the same bytes: a NaN among the facts is the same NaN."""
        return isinstance(other, Note) and msgspec.msgpack.encode(self) == msgspec.msgpack.encode(other)

    def __hash__(self) -> int:
        return hash(msgspec.msgpack.encode(self))

    def __str__(self) -> str:
        """For a log: the driver makes the sentence."""
        return f"{self.code} {self.facts}"


class NoteWarning(UserWarning):
    """A note on its way through Python's `warnings`, which any depth of the worker can give."""

    def __init__(self, note: Note) -> None:
        super().__init__(str(note))
        self.note = note


def noted(code: enum.StrEnum, /, **facts: Fact | Note) -> Note:
    """A note with its facts, by name."""
    return Note(code.value, facts)
