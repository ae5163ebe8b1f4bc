"""The codes of what a task metric refuses. `assay.judge.refusals.task_metric_text` makes the sentences."""

from __future__ import annotations

import enum


class TaskMetricCode(enum.StrEnum):
    """The facts that come with each are the names in its sentence."""

    # the task and its options
    NO_SUCH_TASK = "no_such_task"
    NO_SUCH_OPTION = "no_such_option"
    OPTION_MISSPELT = "option_misspelt"
    OPTION_VALUE = "option_value"
    # labels
    LABELS_NOT_READ = "labels_not_read"
    LABEL_LACKING = "label_lacking"
    LABEL_ENTRIES = "label_entries"
    LABEL_SHAPE = "label_shape"
    LABEL_NO_CLASS = "label_no_class"
    NUMBER_FOR_EACH = "number_for_each"
    PIXEL_FOR_EACH = "pixel_for_each"
    MASK_OF_255 = "mask_of_255"
    KEYPOINT_COUNT = "keypoint_count"
    CANDIDATE_COUNT = "candidate_count"
    NO_RELEVANCE = "no_relevance"
    NOT_SCORED = "not_scored"
    # outputs
    NO_SUCH_OUTPUT = "no_such_output"
    ONE_CLASS = "one_class"
    NO_VECTORS = "no_vectors"
    LOGITS_MISSING = "logits_missing"
    NO_LOGITS = "no_logits"
    NO_KEYPOINTS = "no_keypoints"
    NO_CANDIDATES = "no_candidates"
    NO_CLASS_SCORES = "no_class_scores"
    ONE_CHANNEL = "one_channel"
    NOT_DECODED = "not_decoded"
