"""The sentences of what reading a model refuses."""

from __future__ import annotations

from assay.core.refusals.model_codes import ModelCode

MODELS: dict[str, str] = {
    # exported programs
    ModelCode.PROGRAM_TENSOR_COUNTS: (
        "The program takes {takes} tensors and gives {gives}; its names are {inputs} and {outputs}."
    ),
    ModelCode.PROGRAM_CONSTANT: "The program holds a constant that is no tensor ({type}).",
    ModelCode.PROGRAM_NOT_LOADED: "{file} cannot be read by torch.export.load ({error}); export the model again",
    ModelCode.PROGRAM_NAMES_DAMAGED: "{file}: its file of names is damaged ({error}); convert the model again",
    ModelCode.PROGRAM_NO_TENSOR: (
        "The program has an {role} that is no tensor ({name!r}), and only tensors can be fed and compared."
    ),
    ModelCode.PROGRAM_ENTRY_TWICE: "{file} holds {entry!r} twice; export the model again",
    ModelCode.PROGRAM_PICKLE: (
        "{file} is a pickle of torch.save, which runs code when it is read; save an exported program with torch.export.save"
    ),
    ModelCode.PROGRAM_GRAPHS: (
        "{file} holds {graphs} graphs of torch.export, and one is needed; save it with torch.export.save of torch 2.8 or "
        "newer"
    ),
    ModelCode.PROGRAM_BOMB: (
        "{file} has {packed} bytes and unpacks to {unpacked}: a bomb, or damaged; export the model again"
    ),
    ModelCode.PROGRAM_COMPILED: "{file} holds compiled code ({entry}); give the exported program itself",
    ModelCode.PROGRAM_OLD_PICKLE: "{file} keeps {entry} as a pickle; save it again with torch 2.8 or newer",
    ModelCode.PROGRAM_FOREIGN_ENTRY: (
        "{file} holds {entry!r}, which torch.export does not write; export the model again"
    ),
    ModelCode.PROGRAM_ENTRIES_ELSEWHERE: (
        "{file} is no plain archive: its list of entries is not where it ends; export the model again"
    ),
    ModelCode.PROGRAM_NO_ARCHIVE: "{file} is no exported program: it is not an archive; save it with torch.export.save",
    ModelCode.PROGRAM_OF_ANOTHER: "{file} is none of torch.export's ({error}); export the model again",
    ModelCode.PROGRAM_DAMAGED: "{file} is a damaged archive ({error}); export the model again",
    ModelCode.PROGRAM_JSON_TOO_LARGE: "{file}: {entry} is larger than {most_mib} MiB, which no graph is",
    ModelCode.PROGRAM_TENSOR_PICKLED: (
        "{file} keeps '{entry}' as a pickle, which runs code when it is read; keep plain tensors"
    ),
    ModelCode.PROGRAM_EXAMPLES: (
        "{file} keeps example inputs that are more than tensors, and reading them may run code; set example_inputs to None "
        "before saving"
    ),
    ModelCode.PROGRAM_CALLS: "{file} calls '{target}', which is no operator of torch",
    ModelCode.PROGRAM_TEXT: "{file} holds {what}: '{value}'",
    # Python functions that build a model
    ModelCode.FUNCTION_RAISED: "{source} raised {exception}: {error}; call it yourself to see where",
    ModelCode.FACTORY_NOT_EXPORTED: (
        "{source} cannot be exported by torch.export ({exception}: {error}); see the exporter's advice in "
        "torch.export.draft_export"
    ),
    ModelCode.FACTORY_SIZES: (
        "{source} cannot be exported for all sizes that its dynamic_shapes allow; torch.export suggests: {suggestion}"
    ),
    ModelCode.FACTORY_BY_FILE: "{source} names a file; write the module and the function that builds the model: {factory}",
    ModelCode.FACTORY_FILE_NO_NAME: (
        "{source} names a file, and no module can be called like {file}; rename it (letters, digits and _)"
    ),
    ModelCode.FACTORY_IN_FOLDER: (
        "{source} names a file that no module's name leads to from here; run in the folder {folder}, and write {factory}"
    ),
    ModelCode.FACTORY_NO_MODULE: (
        "{source}: there is no module {module!r} in the current folder or among the installed packages; correct the name, or "
        "install the package"
    ),
    ModelCode.FACTORY_NEEDS_MODULE: (
        "{source}: importing {importing} needs the module {module!r}, which is not installed"
    ),
    ModelCode.FACTORY_IMPORT_RAISED: "{source}: importing {importing} raised {exception}: {error}",
    ModelCode.FACTORY_NOT_CALLED: "{source} is a {type} and cannot be called; name a function that builds the model",
    ModelCode.FACTORY_NO_EXAMPLES: (
        "{source} gives a {type} without example inputs; return (module, example_inputs), or give the module the attribute "
        "example_inputs"
    ),
    ModelCode.FACTORY_GIVES: (
        "{source} gives a {type}; it must give (module, example_inputs), with dynamic_shapes as a third if it likes, or a "
        "torch.nn.Module with the attribute example_inputs"
    ),
    ModelCode.FACTORY_EXAMPLES: (
        "{source}: example inputs are a {type}; give a tensor, a tuple of tensors, or a dict by the names of forward's "
        "arguments"
    ),
    ModelCode.FUNCTION_MISSPELT: "{source}: {module} has no {name!r}; perhaps you mean {near!r}",
    ModelCode.FUNCTION_NO_NAME: "{source}: {module} has no {name!r}; correct the name after the colon",
    # conversions and inputs
    ModelCode.NO_CONVERSION: "There is no conversion from {given} to {asked}.",
    ModelCode.CONVERSION_WITHOUT_TORCH: (
        "the conversion {given}->{asked} is made by torch, which is not installed where this flow runs; give the model as {asked}, "
        "or let the environment of the flow require torch"
    ),
    ModelCode.RANK_NOT_KNOWN: "The rank of input '{input}' is not known; declare its shape.",
    ModelCode.EXPORTED_AS_PAIRS: (
        "torch.onnx.export makes pairs of real numbers of the {type} input {name!r}, which is another input; choose a flow that reads "
        "torch programs, or take real and imaginary parts as inputs"
    ),
    ModelCode.EXPORTER_CANNOT: "{exporter} cannot convert the model: {error}",
    ModelCode.EXPORTER_FAILED: "{exporter} failed ({exception}): {error}",
    ModelCode.RANGES_NOT_SPELLED: "its ranges cannot be spelled out: {error}",
    ModelCode.INPUTS_TOO_LARGE: (
        "{source}: {samples} samples of its inputs at batch {batch} take {gigabytes:.3g} GB, more than the memory of this "
        "machine; ask for fewer, or give a golden"
    ),
    ModelCode.SOURCE_PICKLE: (
        "{source} is a pickle, which runs code when it is read; save the model with torch.export.save as .pt2, or name the "
        "function that builds it as package.module:factory"
    ),
    ModelCode.NO_VALUES_FOR: (
        "{source} has an input {input!r} of type {dtype}, for which no values can be generated; give your own with --golden DATA "
        "(docs/own-data.md)"
    ),
    ModelCode.NO_RANK_OF: (
        "{source} does not say the rank of input {input!r}; give your own with --golden DATA (docs/own-data.md)"
    ),
}
PROGRAM_TEXTS = {
    "expr_str": "an expression that is no size",
    "as_expr": "an expression that is no size",
    "guards_code": "a guard that is no comparison of sizes",
    "in_spec": "a tree of inputs that is more than names",
    "out_spec": "a tree of outputs that is more than names",
}
"""What a text should be that stands behind this key of a serialized program; behind any other, a name."""
