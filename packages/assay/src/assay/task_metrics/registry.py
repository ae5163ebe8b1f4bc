"""The task metrics in one table: the options and the metrics of each. Light, for the command line reads it: what computes
them is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple

from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UnknownName, UsageError
from assay.task_metrics.task_option_values import OptionKind, any_name, number, one_of, positive, token

if TYPE_CHECKING:
    from assay.core.flow import Option
    from assay.ports import Tensor, Tensors

    Score = Callable[
        [Sequence[Tensors], Sequence[Tensors], Mapping[str, Tensor], Mapping[str, Option]], dict[str, float]
    ]


OF_PROMPTS = frozenset({"prefix", "schedule"})
"""Labels that `--prompts` makes, and nobody writes."""


class TaskFigure(NamedTuple):
    """A name (or a glob), without its `task.`; which way is worse; one line of meaning; its unit ("" for a pure number).
    `of_labels`: it compares the engine's answers with labels, so that it counts where there is no reference, or one in doubt."""

    pattern: str
    worse: Literal["up", "down"]
    meaning: str
    unit: str = ""
    of_labels: bool = False


class TaskLabel(NamedTuple):
    """What is known to be right, one entry for each row."""

    name: str
    meaning: str
    option: str = "label"
    """That names another."""
    optional: bool = False


class TaskMetric(NamedTuple):
    """One kind of task. The function of the same name, in the module of the same name here, computes its metrics."""

    name: str
    reads: str
    """Outputs, with their shapes."""
    labels: tuple[TaskLabel, ...]
    options: Mapping[str, OptionKind]
    figures: tuple[TaskFigure, ...]

    @property
    def score(self) -> Score:
        """Of actual, expected, labels and options."""
        score: Score = getattr(import_module(f"assay.task_metrics.{self.name}"), self.name)
        return score


_METRICS = (
    TaskMetric(
        "classification",
        "`logits` or the only output: (N, classes)",
        (TaskLabel("label", "(N): the class"),),
        {"output": any_name, "label": any_name, "scores": one_of("logits", "probabilities")},
        (
            TaskFigure("top1_agreement", "down", "share of rows with the reference's first choice"),
            TaskFigure("top5_agreement", "down", "share of rows whose expected first choice is among the five best"),
            TaskFigure("kl_divergence", "up", "mean Kullback-Leibler divergence from the reference, in nats"),
            TaskFigure("top1_accuracy", "down", "share of rows whose first choice is the label", of_labels=True),
            TaskFigure("top5_accuracy", "down", "share of rows whose label is among the five best", of_labels=True),
            TaskFigure("expected_top1_accuracy", "down", "top1_accuracy of the reference"),
        ),
    ),
    TaskMetric(
        "detection",
        "`boxes` (N, D, 4), `scores` (N, D), `classes` (N, D)",
        (
            TaskLabel("boxes", "(N, G, 4)", "label_boxes"),
            TaskLabel("classes", "(N, G); negative is padding", "label_classes"),
        ),
        {
            "boxes": any_name,
            "scores": any_name,
            "classes": any_name,
            "label_boxes": any_name,
            "label_classes": any_name,
            "threshold": number,
            "format": one_of("xyxy", "xywh", "cxcywh"),
        },
        (
            TaskFigure("matched", "down", "share of the reference's objects that are found, with an overlap of 0.5"),
            TaskFigure("unmatched_actual", "up", "objects that the reference does not have, as a share of its objects"),
            TaskFigure("mean_matched_iou", "down", "mean overlap (intersection over union) of the objects that match"),
            TaskFigure("max_confidence_difference", "up", "largest difference of the scores of objects that match"),
            TaskFigure("map50", "down", "mean average precision at an overlap of 0.5 (COCO)", of_labels=True),
            TaskFigure("map50_95", "down", "the same, mean over overlaps from 0.5 to 0.95", of_labels=True),
            TaskFigure("expected_map50", "down", "map50 of the reference"),
        ),
    ),
    TaskMetric(
        "embedding",
        "`logits` or the only output: (N, ...), one vector a row",
        (TaskLabel("label", "(N): the class"),),
        {"output": any_name, "label": any_name},
        (
            TaskFigure("cosine_agreement", "down", "mean cosine of the angle to the reference's vectors"),
            TaskFigure("min_cosine_agreement", "down", "the same of the vector that is furthest off"),
            TaskFigure("neighbour_agreement", "down", "share of rows with the reference's nearest neighbour"),
            TaskFigure("recall_at_1", "down", "share of rows whose nearest neighbour has their label", of_labels=True),
            TaskFigure("expected_recall_at_1", "down", "recall_at_1 of the reference"),
        ),
    ),
    TaskMetric(
        "language",
        "`logits`: (N, positions, vocabulary)",
        (TaskLabel("next_token", "(calls, rows, positions): the token that followed; -1 where none is known"),),
        {"output": any_name},
        (
            TaskFigure("kl_mean", "up", "mean divergence of the next token's probabilities from the reference", "nats"),
            TaskFigure("kl_max", "up", "the same at the worst position of the worst prompt", "nats"),
            TaskFigure("kl_mean_least", "up", "kl_mean is at least that, where a golden keeps sketches", "nats"),
            TaskFigure("kl_max_least", "up", "the same of kl_max", "nats"),
            TaskFigure("next_token_agreement", "down", "share of positions with the reference's most probable token"),
            TaskFigure("perplexity", "up", "of the tokens that followed", of_labels=True),
            TaskFigure("expected_perplexity", "up", "perplexity of the reference"),
            TaskFigure(
                "schedule_kl_*", "up", "largest divergence of the engine from itself, by how a prompt is fed", "nats"
            ),
        ),
    ),
    TaskMetric(
        "pose",
        "`keypoints`: (N, K, 2 or 3), in pixels",
        (
            TaskLabel("keypoints", "(N, K, 2 or 3); a third number of 0: not labelled"),
            TaskLabel("scale", "(N): the area of each pose; else that of the box around it", "scale", optional=True),
        ),
        {"keypoints": any_name, "label": any_name, "scale": any_name, "sigmas": positive},
        (
            TaskFigure("oks_agreement", "down", "mean object keypoint similarity to the reference's poses"),
            TaskFigure("min_oks_agreement", "down", "the same of the pose that is furthest off"),
            TaskFigure("max_keypoint_distance", "up", "largest distance of a keypoint, as a share of the pose's size"),
            TaskFigure("oks", "down", "mean object keypoint similarity to the labels", of_labels=True),
            TaskFigure(
                "oks50", "down", "share of the poses with a similarity to the labels of 0.5 or more", of_labels=True
            ),
            TaskFigure("expected_oks", "down", "oks of the reference"),
        ),
    ),
    TaskMetric(
        "ranking",
        "`logits` or the only output: (N, candidates), more is better",
        (TaskLabel("relevance", "(N, candidates); 0 is not relevant"),),
        {"output": any_name, "label": any_name, "gains": one_of("exponential", "linear")},
        (
            TaskFigure("rank_agreement", "down", "mean rank correlation (Kendall's tau-b) with the reference's scores"),
            TaskFigure("top10_agreement", "down", "share of the reference's ten best that are among the ten best"),
            TaskFigure("ndcg10", "down", "normalized discounted cumulative gain of the ten best", of_labels=True),
            TaskFigure("mrr", "down", "mean of one over the rank of the first relevant candidate", of_labels=True),
            TaskFigure("expected_ndcg10", "down", "ndcg10 of the reference"),
        ),
    ),
    TaskMetric(
        "regression",
        "`logits` or the only output, of any shape",
        (TaskLabel("target", "of the output's shape"),),
        {"output": any_name, "label": any_name},
        (
            TaskFigure("mean_absolute_difference", "up", "mean distance from the reference's numbers"),
            TaskFigure("max_absolute_difference", "up", "largest distance from the reference's numbers"),
            TaskFigure("r2_agreement", "down", "coefficient of determination with the reference as truth"),
            TaskFigure("mae", "up", "mean absolute error against the labels", of_labels=True),
            TaskFigure("rmse", "up", "root of the mean squared error against the labels", of_labels=True),
            TaskFigure("r2", "down", "coefficient of determination against the labels", of_labels=True),
            TaskFigure("expected_mae", "up", "mae of the reference"),
        ),
    ),
    TaskMetric(
        "segmentation",
        "`logits` or the only output: scores (N, classes, H, W), or classes (N, H, W)",
        (TaskLabel("mask", "(N, H, W): the class; 255 or -1: none"),),
        {"output": any_name, "label": any_name, "threshold": number},
        (
            TaskFigure("pixel_agreement", "down", "share of pixels with the reference's class"),
            TaskFigure("mean_iou_agreement", "down", "mean intersection over union with the reference's classes"),
            TaskFigure("iou_agreement_class*", "down", "the same of one class"),
            TaskFigure("psnr_db", "down", "peak of the expected logits to error ratio", "dB"),
            TaskFigure("mean_iou", "down", "mean intersection over union with the labels", of_labels=True),
            TaskFigure("iou_class*", "down", "the same of one class", of_labels=True),
        ),
    ),
    TaskMetric(
        "transcription",
        "`logits` or the only output: (N, time, tokens), or token numbers",
        (TaskLabel("tokens", "(N, length); -1 is padding"),),
        {
            "output": any_name,
            "label": any_name,
            "decoding": one_of("ctc", "tokens"),
            "blank": token,
            "separator": token,
            "padding": token,
        },
        (
            TaskFigure("word_agreement", "down", "1 - word error rate against the reference's texts"),
            TaskFigure("word_error_rate", "up", "edits of words over the length of the label", of_labels=True),
            TaskFigure("token_error_rate", "up", "edits of tokens over the length of the label", of_labels=True),
            TaskFigure("expected_word_error_rate", "up", "word_error_rate of the reference"),
        ),
    ),
)

TASK_METRICS = {metric.name: metric for metric in _METRICS}


def check_task(task: str, options: Mapping[str, Option]) -> None:
    """Raises UnknownName for a task or an option that there is not, UsageError for a value that the option cannot have."""
    if task not in TASK_METRICS:
        raise UnknownName(noted(TaskMetricCode.NO_SUCH_TASK, task=task, known=tuple(TASK_METRICS)))
    known = TASK_METRICS[task].options
    for name, value in options.items():
        if name not in known:
            import difflib

            near = difflib.get_close_matches(name, known, n=1)
            if near:
                raise UnknownName(noted(TaskMetricCode.OPTION_MISSPELT, task=task, option=name, near=near[0]))
            raise UnknownName(noted(TaskMetricCode.NO_SUCH_OPTION, task=task, option=name, known=tuple(sorted(known))))
        if known[name](value):
            raise UsageError(noted(TaskMetricCode.OPTION_VALUE, option=name, task=task, value=value))


def label_name(name: str) -> str:
    """What a label is called beside own inputs."""
    return name if name == "label" else f"label_{name}"


def task_of(name: str) -> TaskMetric | None:
    """The task that has a metric, named without its `task.`; None where none has it."""
    return next((metric for metric in _METRICS if figures_of(metric, [name])), None)


def figures_of(task: TaskMetric, names: Iterable[str]) -> list[str]:
    """Those of the names that are metrics of that task."""
    return [name for name in names if any(fnmatchcase(name, row.pattern) for row in task.figures)]


@lru_cache(maxsize=1024)
def task_figure(name: str) -> TaskFigure | None:
    """The row of a metric, named without its `task.`; None where no task has it."""
    return next((row for metric in _METRICS for row in metric.figures if fnmatchcase(name, row.pattern)), None)


def is_against_labels(name: str) -> bool:
    """Of a metric without its `task.`; what is `expected_...` is of the reference and not of the engine."""
    row = task_figure(name)
    return row is not None and row.of_labels


def task_inputs_reference() -> str:
    """What each reads, as Markdown."""
    lines = ["| task metric | outputs | labels beside the inputs | options |", "|---|---|---|---|"]
    for metric in _METRICS:
        labels = "; ".join(f"`{label_name(label.name)}` {label.meaning}" for label in metric.labels)
        lines.append(
            f"| `{metric.name}` | {metric.reads} | {labels} | {', '.join(f'`{name}`' for name in sorted(metric.options))} |"
        )
    return "\n".join(lines) + "\n"


def task_reference() -> str:
    """The table of the reference, as Markdown."""
    lines = ["| task metric | metric | unit | better | needs labels | what it is |", "|---|---|---|---|---|---|"]
    for metric in _METRICS:
        for row in metric.figures:
            better = "lower" if row.worse == "up" else "higher"
            labels = "yes" if row.of_labels or row.pattern.startswith("expected_") else "no"
            lines.append(
                f"| `{metric.name}` | `task.{row.pattern}` | {row.unit or '-'} | {better} | {labels} | {row.meaning} |"
            )
    return "\n".join(lines) + "\n"
