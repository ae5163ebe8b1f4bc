"""The sentences of what ends a job, or a part of it, by an error that Assay raises itself in a worker."""

from __future__ import annotations

from assay.core.note import NoteCode

WORKER: dict[str, str] = {
    # models and their inputs
    NoteCode.FACTORY_CHANGES: (
        "{source} builds another model each time it is called ({digest}, before {before}): load its weights from a file, or seed whatever "
        "it draws them from"
    ),
    NoteCode.VALID_BUT_REFUSED: "{error} (onnx.checker finds nothing wrong with the model)",
    NoteCode.NO_INPUTS: "no inputs were found that {model} takes: {unmet}{tried}; {option}give a golden with --golden",
    NoteCode.UNMET: "{operator} '{node}': {constraint}",
    NoteCode.NEW_INPUT_SHAPE: (
        "input '{input}' of the new model has shape [{shape}], and the reference is fed [{fed}]: fix the sizes with --dim, or --batch, so "
        "that both take them"
    ),
    NoteCode.INPUT_NOT_HELD: (
        "input '{input}': {dtype} does not hold the values that the reference is fed; give other inputs"
    ),
    NoteCode.UNREADABLE_FILE: "{file} {predicate}",
    NoteCode.MODEL_FINDING: "{finding}, about {about} ({area})",
    NoteCode.MODEL_PART: "{kind} {name} ({number}, {operator})",
    NoteCode.INVALID_GRAPH: "{file}: {finding}",
    NoteCode.INVALID_GRAPH_AND_ONE: "{file}: {finding} (and 1 more finding)",
    NoteCode.INVALID_GRAPH_AND_MORE: "{file}: {finding} (and {more} more findings)",
    NoteCode.NO_ORIGINAL: "a change is judged by an original, and this case has none",
    NoteCode.FIXED_BATCH: (
        "batch {batch}: input '{input}' of model '{model}' has the fixed shape [{shape}]; measure a model with a symbolic first dimension, "
        "or leave the batch sizes out"
    ),
    NoteCode.REFUSED_AT_SIZES: (
        "at {sizes} neither the engine nor the reference takes the inputs: {error}; give other sizes with --dim"
    ),
    NoteCode.FAILED_AT_SIZES: "at {sizes}: {error}",
    NoteCode.BUILT_FOR_SIZES: "{error} It was built for those sizes alone: give others with --dim.",
    NoteCode.NO_PROMPTS: "flow {flow} continues prompts, and the inputs of {model} are none: give them with --inputs FILE",
    NoteCode.SKETCHES_OF_SERVICE: (
        "flow {flow} continues prompts, which a golden of sketches cannot judge: give its prompts with --inputs {golden}"
    ),
    NoteCode.SKETCHES_ARE_NO_ANSWERS: (
        "{golden} keeps sketches, and '{option}' needs whole answers: leave it out, or record the golden with --form whole"
    ),
    NoteCode.CACHE_LOST: "it has no '{name}'",
    NoteCode.CALLS_NOT_ORDERED: "the golden does not say which calls follow one another",
    # references and tolerances
    NoteCode.GOLDEN_TYPE: (
        "output '{output}' came as {given} where the model says {declared}; record it by another flow than {flow}"
    ),
    NoteCode.NOISE_NOT_LEARNT: "the noise of {engine} cannot be learnt here",
    NoteCode.NO_NUMBERS: "nothing here is a number",
    NoteCode.NO_TAPS: "local judgement taps ONNX graphs and exported programs, and this model is a {format}",
    NoteCode.BODY_IN_OWN_TYPES: "an operator and its body are compared with each other in the model's own types",
    NoteCode.FAILED_IN: "{place}: {error}",
    # what float64 cannot evaluate, and noise that cannot be simulated
    NoteCode.EVALUATOR_LACKS: "onnx.reference does not compute {operator} in {type}.",
    NoteCode.EVALUATOR_REFUSES: "onnx.reference cannot do {operator}: {error}",
    NoteCode.EVALUATOR_FAILED: "onnx.reference failed in {operator}: {error}",
    NoteCode.FORM_NOT_COMPUTED: "Assay does not compute {operator} with {stated}.",
    NoteCode.NOT_IN_DOUBLE: "the model cannot be evaluated in float64: {error}",
    NoteCode.OUTPUT_NO_TENSOR: "output '{output}' is a {type}, and only tensors can be compared.",
    NoteCode.OUTPUT_NO_NUMBERS: "an output is no tensor of numbers",
    NoteCode.NO_NOISE_IN: "'{value}' is a {kind}, and noise is only simulated in tensors",
    NoteCode.NOTHING_REAL: "no input and no weight is a real number, whose roundings could be learnt",
    NoteCode.TOO_FEW_DRAWS: "only {ended} of {count} perturbed runs of {engine} end well",
    NoteCode.ROWS_DEPEND: "output '{output}' has no row for each sample: they are not independent of each other",
    NoteCode.ROWS_NOT_AGAIN: "an operator of several rows cannot be evaluated again",
    NoteCode.PLACE_NOT_AGAIN: "a place inside an operator cannot be evaluated again",
    NoteCode.MUTANT_INVALID: "mutant {mutant} is no valid model: {error}",
    # parts of a graph
    NoteCode.VALUE_NOT_EVALUATED: "the value '{value}' was not evaluated, so the graph cannot be cut there",
    NoteCode.SIMPLIFIED_NOT_EVALUATED: "the simplified model cannot be evaluated: {error}",
    NoteCode.SIMPLIFIED_EMPTY: "the simplified model gives nothing",
    NoteCode.FILL_NOT_POSITIVE: "{value} holds positive numbers, as scales and variances must be: {fill} are none",
    NoteCode.SPARSE_NOT_CUT: "A model with sparse weights cannot be cut into parts.",
    NoteCode.SPARSE_TOO_LARGE: (
        "The sparse weights take {size_bytes:,} bytes when they are dense, and less than {most_bytes:,} are made; the largest is "
        "'{name}' of shape {shape}."
    ),
    NoteCode.SPARSE_PLACE_OUTSIDE: (
        "The sparse weight '{name}' of shape {shape} does not have one place inside of that shape for each of its values; "
        "export the model again."
    ),
    NoteCode.PASSES_NOT_TOLD: "{backend} does not say what its passes leave of a model.",
    # timing
    NoteCode.PEER_FAILED: "the other engine of the comparison failed in its turn",
    NoteCode.PEER_GONE: "the other process of the comparison is gone: this launch cannot be repeated",
    NoteCode.PEER_NOT_READY: "the other process of the comparison failed before it could begin",
    NoteCode.PEER_LATE: "the other engine of the comparison did not answer within {seconds:g} s",
    NoteCode.PEER_DIED: "the other process of the comparison died",
    NoteCode.PEER_NOT_STARTED: "the other engine of the comparison failed before its first turn",
    NoteCode.ENGINE_FILES_CHANGED: "the files of the engine are not those that were saved; build it again.",
    NoteCode.NOT_TIMED_FROM_OUTSIDE: (
        "a call of this engine cannot be timed from outside: it is measured, and not beside another one"
    ),
    NoteCode.OTHER_INPUTS: "the two engines do not take the same inputs: {error}",
    NoteCode.TRACE_EMPTY: "{backend} wrote no file",
    NoteCode.TRACE_TOO_LARGE: "it is {size_bytes:,} bytes; at most {most_bytes:,} are kept",
    NoteCode.TRACE_INVALID: "{file} is no Chrome trace: {error}",
    NoteCode.NOT_JSON: "it is no JSON ({error})",
    NoteCode.NO_EVENTS: "it has no list of events",
    NoteCode.EVENT_LACKS: "event {event} has no {field}",
    NoteCode.NO_DURATIONS: "no event in it has a duration",
    # plug-ins that break a promise
    NoteCode.GAVE_NO_DICT: "Engine.run gave {type}, not a dict of arrays by name: fix the backend",
    NoteCode.GAVE_NO_NAME: "Engine.run gave an output whose name is {type}, not text: fix the backend",
    NoteCode.GAVE_NO_ARRAY: "Engine.run gave {type} for output '{output}', not an array: fix the backend",
    NoteCode.GAVE_ELEMENTS: "Engine.run gave elements of type {type} for output '{output}', which no tensor has: fix the backend",
    NoteCode.GAVE_A_VIEW: "Engine.run gave {bytes} bytes for output '{output}' that are a view of {held}: fix the backend",
    NoteCode.GAVE_NO_STATE: "Engine.run gave no output '{output}', which the next call is fed: fix the backend",
    NoteCode.METRIC_STATES_NONE: (
        "metric '{metric}' does not state its metrics: give it `metrics`, of each name the unit and which way is worse, such as "
        '{{"peak_error": ("", "up")}}'
    ),
    NoteCode.METRIC_STATES_WRONG: "metric '{metric}' states its metrics wrongly ({error}): give each name its unit and up, down or both",
    NoteCode.METRIC_FAILED: "metric '{metric}' fails on output '{output}' ({error}): fix it",
    NoteCode.METRIC_NOT_STATED: "metric '{metric}' gives '{figure}', which its `metrics` do not state: state it there",
    # a wrong use that a suite asks for
    NoteCode.SUITE_FILE_MISSING: "{path} is missing: remove the suite's cache and run again",
    NoteCode.NO_OPTION_OF_THREADS: "backend '{backend}' has no option of threads",
    # files
    NoteCode.NOT_WRITTEN: "{path} cannot be written ({error}); give another name",
    NoteCode.SAMPLES_DIFFER: "{path}: the samples of '{input}' differ in shape, and an .npz holds one: give a folder instead",
    NoteCode.NOT_IN_NPZ: "{path}: '{input}' is {dtype}, which an .npz cannot hold: give a folder instead",
}
"""What was wrong, where, and what to do."""
