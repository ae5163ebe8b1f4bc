"""The sentence of each code of `NoteCode`: what a worker notes of a job."""

from __future__ import annotations

from assay.core.note import NoteCode

_UNIT_ROUNDOFF = (
    "judged by a fixed multiple of the unit roundoff instead (512 for float32, 64 for float16, 16 for bfloat16 and int8), which knows "
    "nothing of the graph: what lies outside of it is not called wrong"
)
_NONE_IN_DOUBLE = (
    "because the model has none in double ({error}): a mistake that both make is not seen, and a golden of your own would be "
    "better"
)
_NO_OUTPUT = "no tolerance could be derived for output '{output}': "
_RESTORE = "restore it, or approve a new one with assay baseline set"
NOTES: dict[str, str] = {
    NoteCode.NO_REFERENCE: "{reason}",
    NoteCode.NO_REFERENCE_AT_SIZES: "no reference answers at {sizes}: {error}",
    NoteCode.NO_QUANTIZED_REFERENCE: "the quantized model has no reference answers: {error}",
    NoteCode.OWN_CACHE_NOT_ASKED: "own cache not asked: {error}; a check of this model without --reference asks it",
    NoteCode.REFERENCES_OF_TWO: (
        "the answers differ, and those of the new model are of {new}, those of the model that it is compared with of {old}: not the models "
        "alone may differ; give inputs that both can be evaluated on in double, with --golden or --dim"
    ),
    NoteCode.SKETCH_OPEN: "{least:.3g} to {most:.3g} nats off its sketch, {allowed:.3g} allowed: check its prompts with --inputs",
    NoteCode.NO_LOGITS_TOLERANCE: "no tolerance was derived for its logits, and answers of a service, or sketches, need one",
    NoteCode.TOKENS_UNKNOWN: "the service says neither which tokens it generates nor their log-probabilities",
    NoteCode.ANSWERS_EMPTY: "{empty} of {answers} empty",
    NoteCode.NO_TOLERANCE: "no tolerance could be derived for this model ({error}): " + _UNIT_ROUNDOFF,
    NoteCode.DERIVATION_FAILED: "no tolerance could be derived for this model (the derivation did not end well): "
    + _UNIT_ROUNDOFF,
    NoteCode.QUANTIZED_NO_GRAPH: (
        "tolerances are derived from ONNX graphs, and the quantized model cannot be made one: judged by a multiple of its step"
    ),
    NoteCode.QUANTIZED_NO_TOLERANCE: (
        "no tolerance could be derived for the quantized model ({error}): judged by a multiple of its step instead"
    ),
    NoteCode.OUTPUT_NOT_EVALUATED: _NO_OUTPUT + "{error}",
    NoteCode.SHAPE_BY_ROUNDING: _NO_OUTPUT + "its shape depends on rounding ([{first}] or [{second}])",
    NoteCode.LOST_TO_NOISE: _NO_OUTPUT + "noise makes {percent:.0f} % of its elements NaN or infinite",
    NoteCode.ELEMENTS_NOT_JUDGED: _NO_OUTPUT + "its elements are {kind}",
    NoteCode.TOLERANCE_LEARNT: (
        "the tolerance is learnt from {draws} perturbed runs of {engine}, because the model has no evaluation in double ({error})"
    ),
    NoteCode.COMPUTES_IN_DOUBLE: (
        "the model computes in double, and so must this flow: judged at {precision} (a flow that computes in {asked} on purpose declares "
        "the allowance double-in-float32)"
    ),
    NoteCode.WITHOUT_NOISE_RULE: (
        "the derived tolerance has no noise rule for {operators}: 8 units of each result were allowed"
    ),
    NoteCode.DEFECTS_NOT_SEEN: (
        "an engine that is wrong in one of these ways would pass here, as the derived tolerance let it pass when it was built into the "
        "model: {listed}; give inputs on which it matters with --inputs"
    ),
    NoteCode.DERIVED_ON_FIRST: (
        "the tolerance was derived on the first {known} of {samples} samples; the others may be off by as much as the noisiest element of "
        "these"
    ),
    NoteCode.CONVERSION_UNTRUE: (
        "the graph that the tolerance was derived from answers otherwise than the program at output '{output}', both in double: the "
        "conversion is not true to it; judged by a fixed multiple of the unit roundoff instead, which is wider"
    ),
    NoteCode.HIDDEN_BY_NOISE: (
        "judged end to end: in {precision} an error of up to {share:.2g} of the norm of output '{output}' passes for the noise of a "
        "correct flow; --per-node judges every node by itself and sees more"
    ),
    NoteCode.PASSES_COARSELY: (
        "output '{output}' passes its fixed tolerance and is off by {units:.3g} eps of its norm, where a correct kernel in {dtype} is off "
        "by a few (torch's table would fail {torch_percent:.3g} % of it, onnx's table would fail {onnx_percent:.3g} % of it): weights or "
        "inputs may be rounded to bf16 or tf32 here, or the reference has few digits; --tolerance derived, on a golden of your own, decides"
    ),
    NoteCode.GOLDEN_DISAGREES: (
        "the golden output '{output}' itself disagrees with the float64 evaluation of the model (budget used {used:.3g}): record it again, "
        "or check which model it is of"
    ),
    NoteCode.REFERENCE_DISAGREES: (
        "the reference answer '{output}' disagrees with the float64 evaluation that its tolerance was derived from (budget used "
        "{used:.3g}): one of the two may be wrong, or rounding decides; a golden of your own, with --golden, tells which"
    ),
    NoteCode.TIES: (
        "output '{output}' has {ties} where {decider} is decided by less than the noise of a correct flow, {at} [{index}]: expected "
        "{expected_in_full}, got {actual_in_full}"
    ),
    NoteCode.SAMPLES_SET_ASIDE: (
        "output '{output}': {left_out} by passing (number {numbers}): rounding alone moves {them} by up to {percent:.3g} % of the signal; "
        "the others decide"
    ),
    NoteCode.EXACT_IN_COARSE_TYPE: "output '{output}' is exact: this {precision} flow seems to have computed in float32",
    NoteCode.CLOSER_THAN_TYPE: (
        "output '{output}' is {times:.0f} times closer than {precision} can be: this {precision} flow seems to have computed in float32"
    ),
    NoteCode.LITTLE_NOISE: (
        "output '{output}' uses only {share:.1e} of its derived noise: the flow computes in a finer type than it was asked for, or a noise "
        "rule is too wide here"
    ),
    NoteCode.FEW_IN_PRECISION: (
        '{count} of {computing} in {asked}; demand more with --require "precision.{metric} >= NUMBER"'
    ),
    NoteCode.DRIFTED: "fed its own state for up to {spent}, the engine ends off the reference by at most: {listed}",
    NoteCode.COMPANION_LEFT_OUT: "{left_out} left out, for this engine: {error}",
    NoteCode.REFERENCE_BY_ITSELF: (
        "the reference answers are those of {producer} ({engine} itself, only in the model's own types), "
        + _NONE_IN_DOUBLE
    ),
    NoteCode.REFERENCE_BY_ANOTHER: (
        "the reference answers are those of {producer} (another engine, in the model's own types), " + _NONE_IN_DOUBLE
    ),
    NoteCode.NEW_NOT_IN_DOUBLE: "the reference answers of the new model are those of {producer}, not of its evaluation in double",
    NoteCode.OLD_NOT_IN_DOUBLE: (
        "the reference answers of the model that it is compared with are those of {producer}, not of its evaluation in double"
    ),
    NoteCode.OLD_TYPES_UNKNOWN: (
        "the golden does not say in which types its model multiplies, and if those are quantized, too, a difference is no cost of "
        "quantizing: record it again with `assay golden record`"
    ),
    NoteCode.INPUT_NOT_FED: "input '{input}' of the reference is not fed: the new model does not have it",
    NoteCode.INPUT_CONVERTED: "input '{input}' is converted from {given} to {taken}",
    NoteCode.OUTPUT_NOT_COMPARED: "output '{output}' is new, and is not compared with the reference",
    NoteCode.NO_LOG_PROBABILITIES: (
        "the service gives no log-probabilities: only the tokens that it chose were judged, and a small error is not seen"
    ),
    NoteCode.OTHER_PROMPTS_PASS: "answers to other prompts would pass, too, asked {ways}: nothing is proved by these",
    NoteCode.NO_TOKENIZER: "no tokenizer was named: text, its tokens and chat were not looked at; add --tokenizer tokenizer.json",
    NoteCode.NO_CHAT_TEMPLATE: "no chat template was named: chat was not looked at; add --option chat_template=FILE",
    NoteCode.NO_DRAWS: "no tokens were drawn: sampling was not looked at; ask for some with --option draws=400",
    NoteCode.DRAWS_NOT_JUDGED: "it is not known which tokens were drawn, or too few were: sampling was not judged",
    NoteCode.WAYS_NOT_JUDGED: "no answer could be judged asked {ways}: nothing is proved by these",
    NoteCode.CORRECTED_AS_INVALID: (
        "{backend} finds it invalid as it is declared ({error}), and took it with its declarations corrected"
    ),
    NoteCode.CORRECTED_AS_REFUSED: (
        "{backend} refuses it as it is declared ({error}), and took it with its declarations corrected"
    ),
    NoteCode.KEPT_REFUSAL: (
        "not lowered again: this is the kept refusal{when} of the same model on the same flow, options and versions; --no-cache lowers it "
        "again"
    ),
    NoteCode.OPTIMIZED_NOT_LOADABLE: (
        "onnxruntime {version} cannot load the optimized graph that it writes of this model ({error}): the artifact is the model itself, "
        "which is optimized again when it is loaded"
    ),
    NoteCode.NO_PROFILE: "no trace: not available: backend {backend} writes no profile",
    NoteCode.NO_TRACE: "no trace: not available: {error}",
    NoteCode.TRACE_FAILED: "no trace: the profile failed with {exception}: {error}",
    NoteCode.OPERATORS_NOT_TIMED: "no times of operators: the profile failed with {exception}: {error}",
    NoteCode.LIBRARY_SAID: "{text}",
    NoteCode.PROCESS_CHANGED: ("the job left its process changed: {what}. No other job was given to that process"),
    NoteCode.MESSAGES_IGNORED: (
        "{messages} on the worker's connection did not come from it or answered nothing: ignored"
    ),
    NoteCode.AGAIN_AFTER_SIGNAL: (
        "it was run again: the first time it ended by {signal} while in stage {stage}, which anybody may have sent"
    ),
    NoteCode.AGAIN_AFTER_STOP: (
        "it was run again: the first time its process was stopped (SIGSTOP), which anybody may have done"
    ),
    NoteCode.AGAIN_AFTER_BUSY_MACHINE: (
        "it was run again, when no other job of this run was under way: the first time others had the cores for most of the time that it "
        "was given"
    ),
    NoteCode.RAISED: "{exception} while in {stage}: {error}",
    NoteCode.TOOL_FAILED: "{program} {ending}{said}",
    NoteCode.REFUSED: "{error}",
    NoteCode.DISK_FULL: "the disk of {folder} is full ({left} bytes are left): free some space and check again",
    NoteCode.MODEL_FILE_CHANGED: (
        "{path} was written to while the run used it, by a backend or another program: put the model back and check again; "
        "--workers 1 shows after which job"
    ),
    NoteCode.MODEL_FILE_GONE: (
        "{path} was removed while the run used it, by a backend or another program: put the model back and check again; "
        "--workers 1 shows after which job"
    ),
    NoteCode.NOTHING_DELEGATED: "nothing was delegated: {why}",
    NoteCode.WRONG_USE_REFUSED: "refused: {error}",
    NoteCode.WRONG_USE_ALLOWED: "answered, which is allowed here",
    NoteCode.MESSAGE_TOO_LARGE: "a message between driver and worker is {size_bytes:,} bytes long, and at most {most_bytes:,} are sent",
    NoteCode.RESULT_NOT_WRITTEN: "the result cannot be written: {error}",
    NoteCode.BASELINE_UNUSABLE: "{reason}",
    NoteCode.ARTIFACT_CHANGED: "the artifact of the baseline has changed on disk ({path}); " + _RESTORE,
    NoteCode.ARTIFACT_GONE: "the artifact of the baseline is gone ({path}); " + _RESTORE,
    NoteCode.TOO_FEW_CORES: (
        "an engine of {threads} threads was asked for and this process may use {usable}: its threads would wait for one another; give it "
        "more cores, or compare with --threads 1"
    ),
    NoteCode.CPU_CLOCK_STOPPED: (
        "the CPU-time clock of this machine does not advance; measure on a machine that has one"
    ),
    NoteCode.DEVICE_CLOCK_STOPPED: (
        "the events of the device say that no time has passed; measure with a driver that times them"
    ),
    NoteCode.NVML_NOT_INSTALLED: "nvidia-ml-py is not installed beside this flow: pip install 'assay[gpu]'",
    NoteCode.NVML_SAYS: "NVML says: {error}",
    NoteCode.SIZES_BY_TRIAL: "sizes were found by trial",
    NoteCode.ONE_VALUE_FED: "'{input}' is {value:g} alone",
    NoteCode.FEW_PLACES: "tables of unknown size have {places} places",
    NoteCode.ASCENDING_FED: "'{input}' ascends to {last}",
    NoteCode.BITS_FED: "whole numbers are 0 and 1",
    NoteCode.SMALL_FED: "whole numbers are 0 to 9 at most",
    NoteCode.ONES_FED: "whole numbers are 1",
    NoteCode.TRUTHS_FED: "truth values are true",
    NoteCode.UNIFORM_FED: "floating inputs lie between 0 and 1",
}
