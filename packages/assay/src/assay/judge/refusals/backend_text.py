"""The sentences of what a backend of our own refuses."""

from __future__ import annotations

from assay.core.refusals.backend_codes import BackendCode

BACKENDS: dict[str, str] = {
    # options
    BackendCode.OPTION_UNKNOWN: 'Flow "{flow}": backend "{backend}" has no option "{option}"; {hint}.',
    BackendCode.OPTION_CHOICE: 'Flow "{flow}": option "{option}" cannot be {value}; use one of: {choices}.',
    BackendCode.OPTION_TYPE: 'Flow "{flow}": option "{option}" takes {wanted}, not {value}; its default is {default}.',
    BackendCode.OPTION_AT_LEAST: 'Flow "{flow}": option "{option}" must be at least {least}, not {value}.',
    BackendCode.OPTION_NEEDS: 'Flow "{flow}": option "{option}" can be {value} with {needs} only: set these, or leave it out.',
    BackendCode.INDUCTOR_FORM: 'Flow "{flow}": option "inductor_config" has {setting!r}; write name=value, with a semicolon between two',
    BackendCode.INDUCTOR_NAME: 'option "inductor_config": torch._inductor.config has no {setting!r} in this release',
    BackendCode.UNDELEGATED_NAME: 'option "undelegated": the partitioner of {delegate} does not name {operator!r}; it has: {operators}',
    BackendCode.RECORDS_NOT_READ: (
        'Flow "{flow}": option "records": {file} cannot be read; give the folder in which MetaSchedule tuned (its work_dir).'
    ),
    BackendCode.NO_RECORDS: (
        'Flow "{flow}": option "records": {file} is no database of MetaSchedule, or is empty; give the folder in which '
        "MetaSchedule tuned (its work_dir)."
    ),
    BackendCode.RECORDS_OF_ANOTHER: (
        'Flow "{flow}": option "records" is {folder}, which this TVM cannot read ({error}); tune with the version that is '
        "installed."
    ),
    BackendCode.RECORDS_OF_NO_KERNEL: (
        'Flow "{flow}": option "records" is {folder}, which knows none of the {kernels} kernels of this model; tune this model '
        "with the version of TVM that is installed, after its pipeline zero, or leave the option out."
    ),
    # what is fed
    BackendCode.INPUT_MISSING: 'Input "{input}" is missing; feed {inputs}.',
    BackendCode.INPUT_TYPE: 'Input "{input}" is {dtype}; the model takes {wanted}.',
    BackendCode.INPUT_SHAPE: 'Input "{input}" has shape [{shape}]; the model takes [{wanted}].',
    BackendCode.INPUT_NOT_TAKEN: 'Input "{input}" is fed, but the model has no such input.',
    BackendCode.INPUT_EMPTY: 'Input "{input}" is empty, and {library} takes no empty tensors.',
    BackendCode.INPUT_TOO_LARGE: 'Input "{input}" holds a number beyond {dtype}, and {library} takes no larger type.',
    BackendCode.BATCH_OF_NONE: "{library} takes a batch of at least 1, not of 0.",
    BackendCode.BATCHES_DIFFER: "pnnx takes the first axis of every input for one batch, and these have {rows} rows.",
    BackendCode.SIZE_BEYOND: (
        'Input "{input}": "{dimension}" is {size}; the program was made for {least} to {most}. Name the sizes in the case '
        "(dims), or set the option most."
    ),
    BackendCode.SIZES_DIFFER: 'Input "{input}": "{dimension}" is {size}, and {other} in another input.',
    BackendCode.OTHER_SIZES: "{error} It was compiled for {sizes}; give other sizes with --dim.",
    BackendCode.OTHER_SHAPE: 'Input "{input}" is [{shape}]; the network was converted for [{made}].',
    BackendCode.OTHER_SHAPE_NO_BATCH: (
        'Input "{input}" is [{shape}]; the network was converted for [{made}], and pnnx found no axis in it that is a batch.'
    ),
    BackendCode.OUTSIDE_PROFILE: 'Input "{input}" has shape [{shape}], outside of the engine\'s optimization profile.',
    BackendCode.TYPE_NOT_PASSED: '"{tensor}" is of type {dtype}, which does not pass through {library}.',
    BackendCode.NO_TENSOR: '{role} "{name}" is not a tensor, and only tensors can be fed and compared.',
    BackendCode.SIZE_NOT_NAMED: (
        'Input "{input}" has the dimension "{dimension}" of any size, and {library} converts at fixed sizes; name its sizes in '
        "the case (dims), or export the model with fixed ones."
    ),
    BackendCode.RANGE_NOT_NAMED: (
        'TensorRT builds for a range of sizes, and none is named for dimension "{dimension}" of input "{input}": give minimum, '
        "optimum and maximum (--dim {dimension}=1:4:8)."
    ),
    BackendCode.SIZES_NOT_NAMED: "{error} Name least, usual and most sizes of the symbolic dimensions.",
    BackendCode.NAME_NOT_TAKEN: '{library} cannot take input "{input}": rename it (no comma, no quote).',
    # prompts
    BackendCode.NUMBERS_ALONE: (
        "this engine is given numbers, and gives whole answers: it knows no text, no stop strings, no chat and no streams"
    ),
    BackendCode.NO_INPUT_IDS: "this engine continues prompts, and the model takes no input_ids",
    BackendCode.SERVICE_NO_INPUT_IDS: (
        "the service continues prompts, and this model takes no input_ids: give the address of its tensors, .../v2"
    ),
    BackendCode.NO_ADDRESS: "it is not said where the service is: give its address with --endpoint URL",
    BackendCode.TEMPLATE_NO_FILE: "the chat template {file} is no file; give the template of the model",
    BackendCode.CONTEXT_TOO_SHORT: "the program was exported for {most} tokens, and a text has {tokens}: give --option context={tokens}",
    BackendCode.DECODE_GAVE: "llama_decode gave {code}: the prompts may be longer than the context",
    BackendCode.GRAPH_NEEDS: "{library} needs a graph with {names}; export the model with these names.",
    # checkpoints
    BackendCode.NO_CHECKPOINT: (
        "{library} reads checkpoints, and this model is none: check a checkpoint, or name one with --option {option}"
    ),
    BackendCode.CHECKPOINT_CHANGED: "{place} has changed since the model was read: check it again",
    BackendCode.CHECKPOINT_NOT_OPENED: "{library} cannot open the checkpoint {place}: {error}",
    BackendCode.WEIGHT_MISSING: "the checkpoint {place} has no weight {weight}: transformers would draw one at random",
    BackendCode.GGUF_NOT_OPENED: "llama.cpp does not open {file}: is it a GGUF file of a model that it knows?",
    BackendCode.NO_CONTEXT: "llama.cpp makes no context for {file} with these options",
    # the model
    BackendCode.NO_ONNX: "{file} is not an ONNX file: {error}",
    BackendCode.OPSET_BEYOND_ONNX: "{file} is written for opset {opset}; onnx {version} ends at {newest}.",
    BackendCode.BEYOND_2_GIB: "{library} is given the model as one file, and this one has more than 2 GiB.",
    BackendCode.NOT_QUANTIZED: (
        "The flow wants {precision}, and the model has no QuantizeLinear and DequantizeLinear of {precision}: quantize it "
        "first."
    ),
    BackendCode.ZERO_POINT: "{library} quantizes around 0 only, and {node!r} has another zero point: quantize symmetrically.",
    BackendCode.TYPE_NOT_CARRIED: (
        "{library} {version} takes types from the model, and this one carries no {dtype}: convert it first (a transform of the "
        "flow), or ask for fp32."
    ),
    # what a library has not
    BackendCode.NO_OPERATOR: "{library} has no {names}.",
    BackendCode.NO_LAYER: "ncnn has no layer {names}, to which pnnx converted the model.",
    BackendCode.NO_LOWERING: "IREE has no lowering of {operator} as used here at '{node}'.",
    BackendCode.OLD_OPSET: (
        "{error} The model is written for opset {opset}, and IREE reads {oldest} and later: convert it (transform "
        "opset:{oldest})."
    ),
    BackendCode.NO_SHAPE: "MNN's session computes no shape for {operator} '{node}'.",
    BackendCode.NO_CONTROL_FLOW: (
        "MNN's session computes no shape for {operator} '{node}'; MNN's other interface has control flow: --option api=module."
    ),
    BackendCode.NO_FLAG: "{library} {version} has no flag {flag}.",
    BackendCode.NO_STRONG_TYPES: "TensorRT {version} has no strongly typed networks; set strongly_typed=false.",
    BackendCode.NO_IMPLEMENTATION: "onnx.reference has no implementation: {error}",
    BackendCode.ONE_READING: "the standard can be read in one way alone of every operator of this model",
    BackendCode.NOT_SET_UP: "onnx.reference cannot set up the model: {error}",
    BackendCode.DELEGATE_NO_TYPE: "the delegate of ExecuTorch has no type {type}.",
    BackendCode.KEPT_WHOLE: "ExecuTorch's partitioner keeps {operator} from being decomposed, and the delegate does not take it.",
    BackendCode.RUNTIME_LACKS_OPERATORS: "ExecuTorch's runtime has not all operators of {file} ({error}); which, is in the log.",
    BackendCode.OUTPUTS_DROPPED: "{library}'s converter dropped outputs of the model: {outputs}.",
    BackendCode.LEFT_TO_THE_CPU: "{library} left operators to the CPU, which the flow forbids.",
    BackendCode.OPERATORS_LEFT_TO_THE_CPU: (
        "{library} leaves {left} of {operators} operators to the CPU, which the flow forbids: {names} (first '{first}')."
    ),
    BackendCode.NO_PROFILER: "{library} {version} has no profiler as it is built: {lacking} is not in it",
    BackendCode.PROFILE_IN_TICKS: "the profile of driver {driver} is in ticks of the device, which are not converted",
    BackendCode.TRACE_OF_SESSION: 'MNN calls back for each operator of a session alone: use the option "api" = "session"',
    BackendCode.PASSES_NOT_SHOWN: "{library} does not show the model after each of its passes.",
    # what a library says
    BackendCode.AT_NODE: "at {operator} '{node}': {error}",
    BackendCode.STEP_REFUSED: "{library}, {step}: {error}",
    BackendCode.STEP_FAILED: "{library} failed {step}: {exception}: {error}",
    BackendCode.STEP_SILENT: "{library} gave nothing {step}, and said nothing.",
    BackendCode.LINKING_FAILED: "TVM cannot link the library, for which it needs a C++ compiler on PATH: {error}",
    BackendCode.IMPORTER_REFUSES: "{library}'s importer refuses {operator} '{node}': {error}",
    BackendCode.IMPORTER_SAYS: "{library}'s ONNX importer: {error}",
    BackendCode.PARSER_SAYS: "{library}'s parser, {code}, {error}",
    BackendCode.CONVERTER_SAYS: "{library} does not convert it: {error}",
    BackendCode.CONVERTER_DIED: "{library}'s converter died of {signal}: {error}",
    BackendCode.NOTHING_CONVERTED: "{library}'s converter wrote no model: {error}",
    BackendCode.IN_PASS: "in its {step}, at {node}.",
    BackendCode.SAID_NOTHING: "it said nothing.",
    BackendCode.RUNTIME_SAYS: "{library}'s runtime: {error}",
    BackendCode.EXECUTORCH_0X10: (
        "ExecuTorch's runtime: {error} (not supported by the engine, or a size beyond the bounds that it was made for)"
    ),
    BackendCode.EXECUTORCH_0X12: "ExecuTorch's runtime: {error} (invalid argument)",
    BackendCode.RUN_ANSWERED: "{call} answered {code}; its reason is in the log.",
    BackendCode.TARGET_REFUSED: "{library} cannot build for this target: {error}",
    BackendCode.DISPATCH_MEMORY: "a dispatch asked for more memory than there can be, which is its code's fault: {error}",
    BackendCode.TACTICS_SKIPPED: "{error} Tactics were skipped for want of memory: raise workspace_mib.",
    BackendCode.NO_MEMORY_FOR: '{library} had no memory for output "{output}".',
    # programs of a library
    BackendCode.TOOL_SAYS: "{tool} failed: {error}",
    BackendCode.TOOL_KILLED: "{tool} was killed by signal {signal}: {error}",
    BackendCode.TOOL_ENDED: "{tool}, {step}, ended by {signal}.",
    BackendCode.TOOL_WROTE_NO: "{tool} ended well and wrote no '{file}'.",
    BackendCode.TOOL_NOT_RUN: "{tool} cannot be run ({error}).",
    BackendCode.TOOL_NO_VERSION: "{tool} does not say which version it is of (exit code {code}): {error}",
    BackendCode.NO_TRTEXEC: "trtexec is not on PATH: it comes with the TensorRT archive of the vendor, not with the Python package.",
    BackendCode.EXPORT_NO_JSON: "{source} is no JSON ({error}): truncated? Write it again with {option}.",
    BackendCode.EXPORT_NO_LIST: "{source} is no list of objects; it should be what trtexec writes with {option}.",
    BackendCode.EXPORT_DAMAGED: "{source} is not what TensorRT writes with {option}: '{lacking}' is missing.",
    BackendCode.EXPORT_ENTRY: '{source}: entry {entry} has no finite number "{name}" but {value}.',
    # saved engines
    BackendCode.ENGINE_NOT_READ: "{file} of the saved engine cannot be read ({error}); lower the model again.",
    BackendCode.ENGINE_FILE_MISSING: "{file} is missing from the saved engine; lower the model again.",
    BackendCode.ENGINE_FILE_CHANGED: "{file} is not what was saved (truncated or replaced); lower the model again.",
    BackendCode.ENGINE_NOT_LOADED: "{library} cannot load this saved engine ({error}): build it again with this version, here",
    BackendCode.BUILT_BY_ANOTHER: "the engine was built by {tool} {built}, and this is {version}: lower the model again, here.",
    BackendCode.OTHER_PROCESSOR: (
        "the saved {library} engine is built for another processor: this one has no {features}; lower the model again with "
        "cpu=host, or run it where these are"
    ),
    # devices and installations
    BackendCode.NO_DEVICE: "no {device} device: {error}",
    BackendCode.CUDA_SAYS: "no usable CUDA device: {call} says {error} ({code})",
    BackendCode.CUDA_MEMORY: "{call}: {error}",
    BackendCode.NO_SUCH_DEVICE: "no {device} device on this machine.",
    BackendCode.NO_DRIVER: "this build of iree's runtime has no driver {driver}; it has {drivers}.",
    BackendCode.NO_RUNTIME_FOR: "{library} {version} as installed has no runtime for {device} (a build with it is needed).",
    BackendCode.NO_CUDA_RUNTIME: "the CUDA runtime (libcudart) is not installed: pip install nvidia-cuda-runtime.",
    BackendCode.TORCH_WITHOUT_CUDA: (
        "this build of torch has no CUDA (torch {version}); install a build for CUDA, or take --option device=cpu"
    ),
    BackendCode.TORCH_SEES_NO_CUDA: (
        "torch sees no CUDA device (torch {version}); install the driver of a GPU, or take --option device=cpu"
    ),
    BackendCode.NO_QNN_LIBRARY: (
        "{file} cannot be loaded, so that nothing can run on QNN's {kind}; the wheel of onnxruntime-qnn for Linux brings htp "
        "(its emulator on x86): use backend_type=htp, or install the SDK"
    ),
    BackendCode.NOT_AVAILABLE: "{error} {install}",
    BackendCode.NOT_INSTALLED: "a part of it is missing ({lacking}). Run pip install 'assay[{extra}]'.",
    BackendCode.DELEGATE_NOT_IN_RUNTIME: "The runtime of executorch {version} has no {delegate}; it runs on {place}.",
    BackendCode.DELEGATE_NOT_HERE: "{delegate} is in the runtime and not available here; it runs on {place}.",
    BackendCode.DELEGATE_NEEDS: "Lowering for {delegate} needs a library that is not here ({error}): {install}",
    BackendCode.NO_LOCALE: (
        "this machine lacks the locale '{locale}', by which StringNormalizer changes the case of letters: install it (Debian, "
        "Ubuntu: `apt-get install locales`, then `localedef -i {language} -f UTF-8 {locale}`), or set the attribute locale='C' "
        "of that node (skl2onnx: the option locale of the vectorizer), which changes the case of ASCII letters only"
    ),
    # torch
    BackendCode.NO_CPP_COMPILER: "Inductor needs a C++ compiler and found none; run apt-get install g++",
    BackendCode.SPECIALISED: "the exported program takes no input of this size: it was specialised to {sizes}",
    BackendCode.TORCH_CANNOT_DO_IT: "torch cannot do it: {error}",
    BackendCode.TORCH_FAILS: "torch failed: {error}",
}
