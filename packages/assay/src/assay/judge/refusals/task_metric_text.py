"""The sentences of what a task metric refuses."""

from __future__ import annotations

from assay.core.refusals.task_metric_codes import TaskMetricCode

TASK_METRICS: dict[str, str] = {
    # the task and its options
    TaskMetricCode.NO_SUCH_TASK: "there is no task {task!r}; choose one of {known}",
    TaskMetricCode.NO_SUCH_OPTION: "task {task!r} has no option {option!r}; it has {known}",
    TaskMetricCode.OPTION_MISSPELT: "task {task!r} has no option {option!r}; perhaps you mean {near!r}",
    TaskMetricCode.OPTION_VALUE: "option {option!r} of task {task!r} must be {wanted}, not {value!r}",
    # labels
    TaskMetricCode.LABELS_NOT_READ: (
        "task metric {task!r} reads {wanted} of the labels, and there is {there}: rename it"
    ),
    TaskMetricCode.LABEL_LACKING: (
        "task metric {task!r} lacks the label '{lacking}' beside the others: give one for each sample"
    ),
    TaskMetricCode.LABEL_ENTRIES: (
        "label '{label}' has {entries} entries, and the outputs have {rows} rows; give one for each row, in their order"
    ),
    TaskMetricCode.LABEL_SHAPE: (
        "label '{label}' has shape [{shape}], and the outputs have {rows} rows; give one number for each"
    ),
    TaskMetricCode.LABEL_NO_CLASS: (
        "label '{label}' holds {value:g}, which is none of the {classes} classes of the output; give whole numbers from 0 to "
        "{last}"
    ),
    TaskMetricCode.NUMBER_FOR_EACH: (
        "the label has shape [{labelled}] and output '{output}' [{shape}]; give one number for each"
    ),
    TaskMetricCode.PIXEL_FOR_EACH: (
        "the mask has shape [{labelled}] and the classes of output '{output}' [{shape}]; give one for each pixel"
    ),
    TaskMetricCode.MASK_OF_255: "the mask holds 0 and 255 alone, and 255 says no class: write 1 for the foreground",
    TaskMetricCode.KEYPOINT_COUNT: (
        "the labels have {labelled} keypoints for each pose, and output '{output}' has {keypoints}: give as many"
    ),
    TaskMetricCode.CANDIDATE_COUNT: (
        "the label has {labelled} candidates for each query and the output {candidates}; give one relevance for each"
    ),
    TaskMetricCode.NO_RELEVANCE: "the label holds a relevance below 0, or no number; give 0 for what is not relevant",
    TaskMetricCode.NOT_SCORED: (
        "task metric {task!r} cannot be computed, not even of the reference's own answers{of_labels}: {error}; it reads "
        "{reads}, and of labels {wanted}"
    ),
    # outputs
    TaskMetricCode.NO_SUCH_OUTPUT: (
        "the task metrics need output '{output}', the model has {known}; name it with --task-metric KIND:output=NAME, or in "
        "[model.task-metric-options]"
    ),
    TaskMetricCode.ONE_CLASS: (
        "task metric 'classification' needs scores of two classes or more, and output '{output}' has shape [{shape}], where "
        "every row would have the same first choice; use --task-metric regression, or name another output with --task-metric "
        "classification:output=NAME"
    ),
    TaskMetricCode.NO_VECTORS: (
        "task metric 'embedding' needs vectors, and output '{output}' has shape [{shape}]; give (N, D)"
    ),
    TaskMetricCode.LOGITS_MISSING: (
        "task metric 'language' needs logits (batch, positions, vocabulary), and the model has no output '{output}'; name it "
        "with --task-metric language:output=NAME"
    ),
    TaskMetricCode.NO_LOGITS: (
        "task metric 'language' needs logits (batch, positions, vocabulary), and output '{output}' is [{shape}]; name it with"
        " --task-metric language:output=NAME"
    ),
    TaskMetricCode.NO_KEYPOINTS: (
        "task 'pose' reads keypoints (poses, keypoints, 2 or 3), and '{output}' has the shape ({shape}); name another output "
        "with --task-metric pose:keypoints=NAME"
    ),
    TaskMetricCode.NO_CANDIDATES: (
        "task metric 'ranking' needs scores of candidates, and output '{output}' has shape [{shape}]; give (N, K)"
    ),
    TaskMetricCode.NO_CLASS_SCORES: (
        "task metric 'segmentation' needs scores (N, classes, H, W), and output '{output}' has shape [{shape}]; name another "
        "with --task-metric segmentation:output=NAME"
    ),
    TaskMetricCode.ONE_CHANNEL: (
        "output '{output}' has one channel, in which every pixel would be of one class; say above which number a pixel is "
        "foreground with --task-metric segmentation:threshold=0 (logits) or =0.5 (probabilities)"
    ),
    TaskMetricCode.NOT_DECODED: "output '{output}' has shape [{shape}], and its decoding reads [{axes}]",
}
