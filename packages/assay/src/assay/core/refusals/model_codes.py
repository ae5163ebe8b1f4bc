"""The codes of what reading a model refuses. `assay.judge.refusals.model_text` makes the sentences."""

from __future__ import annotations

import enum


class ModelCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    # exported programs
    PROGRAM_TENSOR_COUNTS = "program_tensor_counts"
    PROGRAM_CONSTANT = "program_constant"
    PROGRAM_NOT_LOADED = "program_not_loaded"
    PROGRAM_NAMES_DAMAGED = "program_names_damaged"
    PROGRAM_NO_TENSOR = "program_no_tensor"
    PROGRAM_ENTRY_TWICE = "program_entry_twice"
    PROGRAM_PICKLE = "program_pickle"
    PROGRAM_GRAPHS = "program_graphs"
    PROGRAM_BOMB = "program_bomb"
    PROGRAM_COMPILED = "program_compiled"
    PROGRAM_OLD_PICKLE = "program_old_pickle"
    PROGRAM_FOREIGN_ENTRY = "program_foreign_entry"
    PROGRAM_ENTRIES_ELSEWHERE = "program_entries_elsewhere"
    PROGRAM_NO_ARCHIVE = "program_no_archive"
    PROGRAM_OF_ANOTHER = "program_of_another"
    PROGRAM_DAMAGED = "program_damaged"
    PROGRAM_JSON_TOO_LARGE = "program_json_too_large"
    PROGRAM_TENSOR_PICKLED = "program_tensor_pickled"
    PROGRAM_EXAMPLES = "program_examples"
    PROGRAM_CALLS = "program_calls"
    PROGRAM_TEXT = "program_text"
    # Python functions that build a model
    FUNCTION_RAISED = "function_raised"
    FACTORY_NOT_EXPORTED = "factory_not_exported"
    FACTORY_SIZES = "factory_sizes"
    FACTORY_BY_FILE = "factory_by_file"
    FACTORY_NO_MODULE = "factory_no_module"
    FACTORY_NEEDS_MODULE = "factory_needs_module"
    FACTORY_IMPORT_RAISED = "factory_import_raised"
    FACTORY_NOT_CALLED = "factory_not_called"
    FACTORY_NO_EXAMPLES = "factory_no_examples"
    FACTORY_GIVES = "factory_gives"
    FACTORY_EXAMPLES = "factory_examples"
    FUNCTION_MISSPELT = "function_misspelt"
    FUNCTION_NO_NAME = "function_no_name"
    # conversions and inputs
    NO_CONVERSION = "no_conversion"
    CONVERSION_WITHOUT_TORCH = "conversion_without_torch"
    RANK_NOT_KNOWN = "rank_not_known"
    EXPORTER_CANNOT = "exporter_cannot"
    EXPORTED_AS_PAIRS = "exported_as_pairs"
    EXPORTER_FAILED = "exporter_failed"
    RANGES_NOT_SPELLED = "ranges_not_spelled"
    INPUTS_TOO_LARGE = "inputs_too_large"
    SOURCE_PICKLE = "source_pickle"
    NO_VALUES_FOR = "no_values_for"
    NO_RANK_OF = "no_rank_of"
