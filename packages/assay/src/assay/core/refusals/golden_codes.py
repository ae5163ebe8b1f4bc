"""The codes of what reading or writing a golden refuses. `assay.judge.refusals.golden_text` makes the sentences."""

from __future__ import annotations

import enum


class GoldenCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence. `where` is one of the places."""

    # places
    TENSOR_OF_GOLDEN = "tensor_of_golden"
    TENSOR_OF_SAMPLE = "tensor_of_sample"
    # files
    GOLDEN_NO_FOLDER = "golden_no_folder"
    GOLDEN_NO_LOCK = "golden_no_lock"
    GOLDEN_IRREGULAR = "golden_irregular"
    GOLDEN_NOT_READ = "golden_not_read"
    GOLDEN_LFS_POINTER = "golden_lfs_pointer"
    GOLDEN_LOCK_DAMAGED = "golden_lock_damaged"
    GOLDEN_VERSION = "golden_version"
    GOLDEN_SAMPLE_COUNT = "golden_sample_count"
    GOLDEN_FORM = "golden_form"
    GOLDEN_NOT_LISTED = "golden_not_listed"
    GOLDEN_FOREIGN_FILE = "golden_foreign_file"
    GOLDEN_FILE_MISSING = "golden_file_missing"
    GOLDEN_SIZE = "golden_size"
    GOLDEN_SHA256 = "golden_sha256"
    GOLDEN_UNUSED_FILE = "golden_unused_file"
    # of a model
    GOLDEN_OF_ANOTHER = "golden_of_another"
    GOLDEN_LACKS = "golden_lacks"
    GOLDEN_UNUSED_TENSOR = "golden_unused_tensor"
    GOLDEN_TENSOR_TYPE = "golden_tensor_type"
    GOLDEN_TENSOR_SHAPE = "golden_tensor_shape"
    # what is in it
    GOLDEN_NO_OUTPUT = "golden_no_output"
    GOLDEN_OTHER_TENSORS = "golden_other_tensors"
    GOLDEN_TENSORS_NOT_READ = "golden_tensors_not_read"
    GOLDEN_TENSOR_KIND = "golden_tensor_kind"
    GOLDEN_TENSORS_DAMAGED = "golden_tensors_damaged"
    GOLDEN_TEXTS = "golden_texts"
    PART_NOT_THERE = "part_not_there"
    PART_DAMAGED = "part_damaged"
    SAMPLES_OTHERWISE = "samples_otherwise"
    NAME_NOT_STORED = "name_not_stored"
    OF_NO_SAMPLE = "of_no_sample"
    SHAPE_FOR_SAMPLES = "shape_for_samples"
    MISSING_IN_SAMPLE = "missing_in_sample"
    # what is to be written
    GOLDEN_NOT_WRITABLE = "golden_not_writable"
    GOLDEN_NOT_WRITTEN = "golden_not_written"
    GOLDEN_DTYPE = "golden_dtype"
    GOLDEN_OBJECTS = "golden_objects"
    GOLDEN_PAIRS = "golden_pairs"
    GOLDEN_LABEL = "golden_label"
    # prompts and sketches
    GOLDEN_OF_PROMPTS = "golden_of_prompts"
    GOLDEN_NO_PROMPTS = "golden_no_prompts"
    GOLDEN_PROMPTS_LOST = "golden_prompts_lost"
    SKETCHES_DAMAGED = "sketches_damaged"
    SKETCHES_OF_ANOTHER = "sketches_of_another"
    SKETCHES_LACK = "sketches_lack"
    NO_SKETCH_OF = "no_sketch_of"
    NO_SKETCH_OF_INFINITE = "no_sketch_of_infinite"
    # calibration
    NONE_LEFT_TO_JUDGE = "none_left_to_judge"
