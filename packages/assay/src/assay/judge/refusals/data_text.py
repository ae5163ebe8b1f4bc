"""The sentences of what reading the user's own data refuses."""

from __future__ import annotations

from assay.core.refusals.data_codes import DataCode
from assay.core.refusals.name_codes import NameCode

_FORMS = (
    "give a golden folder, .npy, .npz, .safetensors, a folder of them, of test_data_set_N or of images, an image, prompts (.jsonl, "
    ".txt), Polygraphy's JSON, or a function (module:function, file.py:function)"
)
_PROMPTS = (
    'give a .jsonl file with a list of token numbers, a text or {{"ids": [...]}} on each line, or a .txt file with a text on each '
    "line"
)
_POLYGRAPHY = "a list of inputs as Polygraphy's --save-inputs writes it, or outputs as its --save-outputs does"
_DICTS = "yield a dict from input names to arrays"

DATA: dict[str, str] = {
    NameCode.NEAR_NAME: "perhaps you mean '{near}'",
    NameCode.KNOWN_NAMES: "choose one of {names}",
    NameCode.MANY_NAMES: "none of the {count} names that there are is near",
    # places
    DataCode.ITEM: "{source}, item {item}",
    DataCode.STEP: "{source}, item {item}, step {step}",
    DataCode.LINE: "{file}, line {line}",
    # what is there
    DataCode.DATA_MISSING: f"{{source}} does not exist; {_FORMS}",
    DataCode.DATA_IRREGULAR: f"{{file}} is not a regular file; {_FORMS}",
    DataCode.DATA_KIND: f"{{file}} is of no kind that is read ({{suffix}}); {_FORMS}",
    DataCode.NOTHING_READ: f"{{source}} holds nothing that is read; {_FORMS}",
    DataCode.OUTPUT_LACKING: (
        "{source}: sample {sample} lacks the expected output '{output}'; give all outputs of {model}, or the inputs alone with --inputs"
    ),
    DataCode.PAIRS_DIFFER: "{folder} holds {inputs} inputs and {outputs} outputs; save as many of each",
    # functions
    DataCode.YIELDS_OTHER: f"{{source}} yields {{type}} as item {{item}}; {_DICTS}, or a list of them",
    DataCode.YIELDS_NOTHING: f"{{source}} yields nothing; {_DICTS} for each call",
    DataCode.YIELDS_WITHOUT_END: ("{source} yields more than {most} times; say how many are wanted with --samples"),
    DataCode.FUNCTION_NO_FILE: ("{file} is no file; give FILE.py:FUNCTION, or MODULE:FUNCTION of an importable module"),
    DataCode.FUNCTION_NO_MODULE: (
        "{source}: there is no module {module!r} in the current folder or among the installed packages; correct the name, or give "
        "FILE.py:FUNCTION"
    ),
    # files of arrays
    DataCode.ARRAYS_PICKLED: (
        "{file} holds Python objects, which run code when they are read; save arrays of numbers or text"
    ),
    DataCode.ARRAYS_OTHER: "{file} is no file of numpy: it begins with {start}; save arrays with numpy.save or numpy.savez",
    DataCode.ARRAYS_DAMAGED: "{file} is no whole file of numpy ({error}); save it again with numpy.save or numpy.savez",
    DataCode.POLYGRAPHY_FORM: f"{{file}} is not {_POLYGRAPHY}",
    DataCode.POLYGRAPHY_NO_JSON: f"{{file}} is no JSON ({{error}}); give {_POLYGRAPHY}",
    DataCode.POLYGRAPHY_NO_ARRAY: f"{{file}}: {{name!r}} has no array; give {_POLYGRAPHY}",
    DataCode.POLYGRAPHY_ARRAY_DAMAGED: "{file}: the array of {name!r} cannot be read ({error}); save it again",
    DataCode.SET_TOO_LARGE: "{folder} has {files} {role}s, the model {tensors}; complete the data set",
    DataCode.SET_NUMBER: "{file} is no {role} of the model, which has {tensors}; number them from 0",
    DataCode.SET_DAMAGED: "{file} cannot be read as a {kind} of ONNX ({error}); restore it",
    # images
    DataCode.IMAGE_NOT_DECLARED: (
        "{file} is an image, and how it becomes an input is not declared: give for example --image "
        "size=224x224,layout=NCHW,scale=1/255,mean=0.485:0.456:0.406,std=0.229:0.224:0.225"
    ),
    DataCode.IMAGE_SCALE: (
        "input '{input}' is {dtype}, and how pixels of 0 to 255 become it is not declared: give scale=1/255, or scale=1 where the "
        "model takes them as they are"
    ),
    DataCode.IMAGE_CHANNELS: ("--image {key} has {values} values for {channels} channels; give one, or one for each"),
    DataCode.IMAGE_INPUT: (
        "which input of {model} takes images in layout {layout} is not clear ({inputs}): give layout, or input=NAME, with --image"
    ),
    DataCode.IMAGE_SIZE: "input '{input}' of the model has no fixed size ([{shape}]): give size=HEIGHTxWIDTH with --image",
    DataCode.PILLOW_NOT_INSTALLED: "images are read by Pillow, which is not installed: pip install 'assay[images]'",
    DataCode.IMAGE_NOT_READ: "{file} cannot be read as an image ({error})",
    # values beside what the model declares
    DataCode.NEITHER_TAKEN_NOR_GIVEN: (
        "{where} holds '{name}', which {model} neither takes nor gives; {hint} (a label of the samples is called 'label_{name}')"
    ),
    DataCode.NOT_GIVEN: "{where} holds '{name}', which {model} does not give; {hint}",
    DataCode.NO_SUCH_CONTAINER: "{where}: '{name}' is a {dtype} in the model, and {error}",
    DataCode.ARRAY_WITHOUT_NAME: (
        "{where} holds one array without a name, and {model} has {count} inputs ({names}); save them by name with numpy.savez"
    ),
    DataCode.INPUT_LACKING: (
        "{where} lacks the input '{input}' ({dtype}, [{shape}]) of {model}; store one value for each input"
    ),
    DataCode.STATE_LACKING: (
        "{where} lacks the input '{input}' ({dtype}, [{shape}]) of {model}; it looks like the state that output '{output}' gives back: "
        "--state {output}={input} begins at zeros and feeds it"
    ),
    DataCode.NO_ARRAY: "{where}: '{name}' makes no array ({error}); give rows of one length",
    DataCode.OTHER_TYPE: "{where}: '{name}' is {dtype}, the model takes {wanted}; give {wanted}",
    DataCode.DIGITS_LOST: (
        "{where}: '{name}' is {dtype} and would lose digits as {wanted}, which the model takes; cast it yourself if that is meant: "
        "array.astype('{wanted}')"
    ),
    DataCode.NO_BATCH_AXIS: (
        "{where}: '{name}' has shape [{shape}] of {axes} axes, and the model declares [{declared}]; add the batch axis: array[None]"
    ),
    DataCode.AXIS_COUNT: (
        "{where}: '{name}' has shape [{shape}] of {axes} axes, and the model declares [{declared}]; give {wanted} axes"
    ),
    DataCode.AXIS_SIZE: (
        "{where}: '{name}' has shape [{shape}], and the model declares [{declared}]; axis {axis} is {size} and must be {wanted}"
    ),
    DataCode.SAMPLES_OF_INPUTS: (
        "{where}: inputs hold different numbers of samples ('{input}' {samples}, '{other}' {others}); stack as many of each on axis 0"
    ),
    # labels
    DataCode.LABEL_OF_SOME: "{where} has no '{label}', which other samples have; give one for each sample, or none",
    DataCode.LABEL_FOR_SAMPLES: "{where}: '{label}' has shape [{shape}] for {samples} samples; give one entry for each",
    DataCode.LABEL_SHAPES: (
        "'{label}' differs in shape between samples ([{shape}] and [{other}]); pad them to one shape"
    ),
    DataCode.LABEL_TYPE: "'{label}' is {dtype}; give the numbers of classes, tokens or places",
    # states
    DataCode.STATE_NAME: "state {output}={input}: {model} has no {role} '{name}'; {hint}",
    DataCode.STATE_UNLIKE: (
        "state {output}={input}: output '{output}' is {gives} [{given}], input '{input}' {takes} [{taken}]; only a state of one type and "
        "shape can be fed back"
    ),
    DataCode.STATE_TWICE: "two outputs are fed into one input ({inputs}); give each its own",
    DataCode.STATE_SIZE: (
        "how large state '{input}' [{shape}] is at the first call is not known; give its first value in the data"
    ),
    # prompts
    DataCode.PROMPTS_NO_FILE: f"{{file}} is no file of prompts; {_PROMPTS}",
    DataCode.PROMPTS_NOT_READ: "{file} cannot be read ({error}); save it as UTF-8",
    DataCode.PROMPTS_EMPTY: f"{{file}} holds no prompt; {_PROMPTS}",
    DataCode.PROMPT_NO_JSON: f"{{where}} is not JSON; {_PROMPTS}",
    DataCode.PROMPT_OTHER: f"{{where}} is neither token numbers nor a text; {_PROMPTS}",
    DataCode.PROMPT_SHORT: "{where}: the prompt has {tokens} tokens; give {fewest} and more",
    DataCode.TOKEN_UNKNOWN: (
        "{where} has a token {token}, and the model knows 0 to {last}; is it, or the tokenizer, of another model?"
    ),
    DataCode.TOKEN_NEGATIVE: "{where} has a token {token}, and none is below 0; is it, or the tokenizer, of another model?",
    DataCode.TOKENIZER_NOT_GIVEN: (
        "{file} holds text, and what makes tokens of it is not said; add --tokenizer tokenizer.json, or give token numbers"
    ),
    DataCode.TOKENIZER_NO_FILE: "the tokenizer {file} is no file; give the tokenizer.json of the model",
    DataCode.TOKENIZER_NOT_READ: "{file} is no tokenizer ({error}); give the tokenizer.json of the model",
    DataCode.TOKENIZERS_NOT_INSTALLED: (
        "text becomes tokens by the package tokenizers, which is not installed; "
        'pip install "assay[prompts]", or give token numbers'
    ),
    DataCode.NO_LANGUAGE_MODEL: (
        "{model} takes {inputs} and gives {outputs}: prompts are fed to a causal language model, with an input 'input_ids' and an output "
        "'logits'; give its inputs with --inputs"
    ),
    DataCode.INPUT_NOT_OF_PROMPTS: (
        "{model} takes '{input}', and prompts do not say what it is; export the model with input_ids, attention_mask, position_ids and "
        "its cache alone, name a part of the cache with --state, or give all inputs with --inputs"
    ),
    DataCode.FIXED_LENGTH: (
        "{model} takes 'input_ids' [{shape}]: prompts have lengths of their own; export the model with a free length"
    ),
}
