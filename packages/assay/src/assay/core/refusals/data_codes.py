"""The codes of what reading the user's own data refuses. `assay.judge.refusals.data_text` makes the sentences."""

from __future__ import annotations

import enum


class DataCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence. `where` is a file, or one of the places."""

    # places
    ITEM = "item"
    STEP = "step"
    LINE = "line"
    # what is there
    DATA_MISSING = "data_missing"
    DATA_IRREGULAR = "data_irregular"
    DATA_KIND = "data_kind"
    NOTHING_READ = "nothing_read"
    OUTPUT_LACKING = "output_lacking"
    PAIRS_DIFFER = "pairs_differ"
    # functions
    YIELDS_OTHER = "yields_other"
    YIELDS_NOTHING = "yields_nothing"
    YIELDS_WITHOUT_END = "yields_without_end"
    FUNCTION_NO_FILE = "function_no_file"
    FUNCTION_NO_MODULE = "function_no_module"
    # files of arrays
    ARRAYS_PICKLED = "arrays_pickled"
    ARRAYS_OTHER = "arrays_other"
    ARRAYS_DAMAGED = "arrays_damaged"
    POLYGRAPHY_FORM = "polygraphy_form"
    POLYGRAPHY_NO_JSON = "polygraphy_no_json"
    POLYGRAPHY_NO_ARRAY = "polygraphy_no_array"
    POLYGRAPHY_ARRAY_DAMAGED = "polygraphy_array_damaged"
    SET_TOO_LARGE = "set_too_large"
    SET_NUMBER = "set_number"
    SET_DAMAGED = "set_damaged"
    # images
    IMAGE_NOT_DECLARED = "image_not_declared"
    IMAGE_SCALE = "image_scale"
    IMAGE_CHANNELS = "image_channels"
    IMAGE_INPUT = "image_input"
    IMAGE_SIZE = "image_size"
    PILLOW_NOT_INSTALLED = "pillow_not_installed"
    IMAGE_NOT_READ = "image_not_read"
    # values beside what the model declares
    NEITHER_TAKEN_NOR_GIVEN = "neither_taken_nor_given"
    NOT_GIVEN = "not_given"
    NO_SUCH_CONTAINER = "no_such_container"
    ARRAY_WITHOUT_NAME = "array_without_name"
    INPUT_LACKING = "input_lacking"
    STATE_LACKING = "state_lacking"
    NO_ARRAY = "no_array"
    OTHER_TYPE = "other_type"
    DIGITS_LOST = "digits_lost"
    NO_BATCH_AXIS = "no_batch_axis"
    AXIS_COUNT = "axis_count"
    AXIS_SIZE = "axis_size"
    SAMPLES_OF_INPUTS = "samples_of_inputs"
    # labels
    LABEL_OF_SOME = "label_of_some"
    LABEL_FOR_SAMPLES = "label_for_samples"
    LABEL_SHAPES = "label_shapes"
    LABEL_TYPE = "label_type"
    # states
    STATE_NAME = "state_name"
    STATE_UNLIKE = "state_unlike"
    STATE_TWICE = "state_twice"
    STATE_SIZE = "state_size"
    # prompts
    PROMPTS_NO_FILE = "prompts_no_file"
    PROMPTS_NOT_READ = "prompts_not_read"
    PROMPTS_EMPTY = "prompts_empty"
    PROMPT_NO_JSON = "prompt_no_json"
    PROMPT_OTHER = "prompt_other"
    PROMPT_SHORT = "prompt_short"
    TOKEN_UNKNOWN = "token_unknown"
    TOKEN_NEGATIVE = "token_negative"
    TOKENIZER_NOT_GIVEN = "tokenizer_not_given"
    TOKENIZER_NO_FILE = "tokenizer_no_file"
    TOKENIZER_NOT_READ = "tokenizer_not_read"
    TOKENIZERS_NOT_INSTALLED = "tokenizers_not_installed"
    NO_LANGUAGE_MODEL = "no_language_model"
    INPUT_NOT_OF_PROMPTS = "input_not_of_prompts"
    FIXED_LENGTH = "fixed_length"
