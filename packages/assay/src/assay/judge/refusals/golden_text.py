"""The sentences of what reading or writing a golden refuses."""

from __future__ import annotations

from assay.core.refusals.golden_codes import GoldenCode

GOLDENS: dict[str, str] = {
    # places
    GoldenCode.TENSOR_OF_GOLDEN: "{folder}: {role} {name!r}",
    GoldenCode.TENSOR_OF_SAMPLE: "{folder}: {role} {name!r} of sample {sample}",
    # files
    GoldenCode.GOLDEN_NO_FOLDER: ("{folder} is no folder; give a golden folder or record one with assay golden record"),
    GoldenCode.GOLDEN_NO_LOCK: "{folder} has no golden.lock; give a golden folder or run assay golden record",
    GoldenCode.GOLDEN_IRREGULAR: "{file} is not a regular file; restore it or record the golden again",
    GoldenCode.GOLDEN_NOT_READ: "{file} cannot be read ({error}); make it readable",
    GoldenCode.GOLDEN_LFS_POINTER: "{file} is a Git LFS pointer, not the file itself; run git lfs pull",
    GoldenCode.GOLDEN_LOCK_DAMAGED: "{file} is no lock of a golden ({error}); restore it or record the golden again",
    GoldenCode.GOLDEN_VERSION: "{file} has version {version}, this assay knows {known}; upgrade assay",
    GoldenCode.GOLDEN_SAMPLE_COUNT: "{file} says {samples} samples; restore it or record the golden again",
    GoldenCode.GOLDEN_FORM: "{lock} is of form {form!r}, which no golden has; record the golden again",
    GoldenCode.GOLDEN_NOT_LISTED: "{lock} lists no {file}; record the golden again",
    GoldenCode.GOLDEN_FOREIGN_FILE: "{lock} lists {file!r}, which no golden has; record the golden again",
    GoldenCode.GOLDEN_FILE_MISSING: (
        "{file} is missing, though golden.lock lists it; restore it or record the golden again"
    ),
    GoldenCode.GOLDEN_SIZE: (
        "{file} has {size} bytes, golden.lock says {listed}; restore it or run assay golden update"
    ),
    GoldenCode.GOLDEN_SHA256: (
        "{file} has sha256 {digest}, golden.lock says {listed}; restore it or run assay golden update"
    ),
    GoldenCode.GOLDEN_UNUSED_FILE: "{file} is unused: golden.lock does not list it; remove it",
    # of a model
    GoldenCode.GOLDEN_OF_ANOTHER: (
        "{folder} was recorded for model {recorded}, but this model is {digest}; run assay golden update if the change is intended, or "
        "judge this model by that one's answers with --golden-of-another-model (or --reference OLD)"
    ),
    GoldenCode.GOLDEN_LACKS: "{folder} lacks the {role} {name!r} of model {model}; run assay golden update",
    GoldenCode.GOLDEN_UNUSED_TENSOR: (
        "{folder} has an unused {role} {name!r}, which model {model} lacks; run assay golden update"
    ),
    GoldenCode.GOLDEN_TENSOR_TYPE: "{where} is {dtype}, the model says {wanted}; run assay golden update",
    GoldenCode.GOLDEN_TENSOR_SHAPE: ("{where} has shape [{shape}], the model says [{wanted}]; run assay golden update"),
    # what is in it
    GoldenCode.GOLDEN_NO_OUTPUT: (
        "{folder} holds no output: there is nothing to compare with; record the golden again"
    ),
    GoldenCode.GOLDEN_OTHER_TENSORS: "{file} holds other tensors than golden.lock says; record the golden again",
    GoldenCode.GOLDEN_TENSORS_NOT_READ: "{file} cannot be read ({error}); record the golden again",
    GoldenCode.GOLDEN_TENSOR_KIND: "{file} holds tensor {tensor!r} as {kind}, which numpy cannot read; record it again",
    GoldenCode.GOLDEN_TENSORS_DAMAGED: (
        "{file} is truncated or no safetensors file; restore it or record the golden again"
    ),
    GoldenCode.GOLDEN_TEXTS: "a tensor of strings does not hold what its shape says; record the golden again",
    GoldenCode.PART_NOT_THERE: "the file has no tensor {tensor!r}",
    GoldenCode.PART_DAMAGED: "the file is truncated or no safetensors file; send it again (assay store push --verify)",
    GoldenCode.SAMPLES_OTHERWISE: (
        "sample {sample} and sample 0 do not have the same {role}s ({names}); give all or none"
    ),
    GoldenCode.NAME_NOT_STORED: "{role} {name!r} cannot be stored under this name; rename it in the model",
    GoldenCode.OF_NO_SAMPLE: "{role} {stored!r} belongs to none of {samples} samples; record the golden again",
    GoldenCode.SHAPE_FOR_SAMPLES: "{role} {name!r} has shape [{shape}] for {samples} samples; record the golden again",
    GoldenCode.MISSING_IN_SAMPLE: "{role} {name!r} is missing in sample {sample}; record the golden again",
    # what is to be written
    GoldenCode.GOLDEN_NOT_WRITABLE: "{folder} cannot be written ({error}); give a folder you may write to",
    GoldenCode.GOLDEN_NOT_WRITTEN: "{folder} was not written: {error}; give arrays of numbers or text",
    GoldenCode.GOLDEN_DTYPE: "tensor {tensor!r} has dtype {dtype}, which no golden can hold",
    GoldenCode.GOLDEN_OBJECTS: "an array of objects holds something that is neither str nor bytes",
    GoldenCode.GOLDEN_PAIRS: ("{inputs} inputs and {outputs} outputs make no golden; give one output per input"),
    GoldenCode.GOLDEN_LABEL: "label {label!r} has shape [{shape}] for {samples} samples; give one per sample",
    # prompts and sketches
    GoldenCode.GOLDEN_OF_PROMPTS: (
        "{folder} keeps the tokens of prompts, and no answers to compare with (form {form}): give it with --inputs, or record a golden "
        "with --form whole"
    ),
    GoldenCode.GOLDEN_NO_PROMPTS: "its inputs are no prompts; keep it whole, or give prompts with --inputs FILE",
    GoldenCode.GOLDEN_PROMPTS_LOST: (
        "{folder} does not hold the {samples} prompts of its lock; record the golden again"
    ),
    GoldenCode.SKETCHES_DAMAGED: ("{folder} holds sketches that do not fit its prompts; record the golden again"),
    GoldenCode.SKETCHES_OF_ANOTHER: (
        "its sketches are of {tokens} tokens, and {model} knows {known}; record the golden again"
    ),
    GoldenCode.SKETCHES_LACK: (
        "{model} gives '{output}', of which sketches tell nothing; record the golden with --form whole"
    ),
    GoldenCode.NO_SKETCH_OF: ("it gives '{output}' besides its logits, which no sketch is made of; keep it whole"),
    GoldenCode.NO_SKETCH_OF_INFINITE: ("its logits are not all finite, and no sketch is made of such; keep it whole"),
    # calibration
    GoldenCode.NONE_LEFT_TO_JUDGE: (
        "{source} has {left}, calibration takes {taken} and leaves none to judge: give more with --inputs or --golden (a batch is one: "
        "put an axis in front, or a file of its own for each){fewer}"
    ),
}
