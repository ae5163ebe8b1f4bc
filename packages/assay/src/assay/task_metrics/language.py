"""Same answer of a language model: the same probabilities of the next token, after each token of each prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.core.schedules import NAMES, PADDED
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import check_classes, option

SCHEDULE_FIGURE = "schedule_kl_"
Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


def language(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics over all positions of output `output` ("logits", (batch, positions, vocabulary)); padding is left out.

    kl_mean and kl_max: KL(expected || actual) of the next token, in nats, the mean and the worst position (Kullback, Leibler 1951).
    next_token_agreement: share of positions with the same most probable token. Label `next_token` says which token followed:
    perplexity is the exponential of the mean of its negative log-probability, with expected_perplexity beside it. Labels `prefix` and
    `schedule` (as `--prompts` gives them) say where answers must agree because the tokens before are the same: schedule_kl_NAME is the
    largest divergence of the engine from its own answer when the prompt is fed in one call.
    """
    name = option(options, "output", "logits")
    ours, theirs = (log_probabilities(samples, name) for samples in (actual, expected))
    places = [*positions(labels, "prefix", theirs)]
    got, expected_rows = (
        np.concatenate([array[place >= 0] for array, place in zip(side, places, strict=True)])
        for side in (ours, theirs)
    )
    away = divergence(expected_rows, got)
    figures = {
        "kl_mean": float(away.mean()),
        "kl_max": float(away.max()),
        "next_token_agreement": float(np.mean(got.argmax(axis=1) == expected_rows.argmax(axis=1))),
    }
    followed = np.concatenate(
        [position[place >= 0] for position, place in zip(positions(labels, "next_token", theirs), places, strict=True)]
    )
    if "next_token" in labels and (followed >= 0).any():
        check_classes(followed[followed >= 0], "next_token", expected_rows.shape[1])
        figures["perplexity"] = _perplexity(got, followed)
        figures["expected_perplexity"] = _perplexity(expected_rows, followed)
    return figures | schedule_figures(actual, labels, name)


def schedule_figures(
    answers: Sequence[Tensors], labels: Mapping[str, Tensor], output: str = "logits"
) -> dict[str, float]:
    """`schedule_kl_NAME` of calls, each on the cache that they carry."""
    distances = apart(log_probabilities(answers, output), labels)
    return {f"{SCHEDULE_FIGURE}{name}": size for name, (size, _, _) in distances.items()}


def log_probabilities(samples: Sequence[Tensors], name: str) -> list[Tensor]:
    """Of the next token, (batch, positions, vocabulary) for each call. Raises UsageError where the output is no such thing."""
    logs = []
    for sample in samples:
        if name not in sample or np.ndim(sample[name]) != 3:
            if name not in sample:
                raise UsageError(noted(TaskMetricCode.LOGITS_MISSING, output=name))
            raise UsageError(noted(TaskMetricCode.NO_LOGITS, output=name, shape=np.shape(sample[name])))
        scores = np.asarray(sample[name], np.float64)
        scores = scores - scores.max(axis=-1, keepdims=True)
        logs.append(scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True)))
    return logs


def positions(labels: Mapping[str, Tensor], label: str, calls: Sequence[Tensor]) -> list[Tensor]:
    """What a label says of each place of each call (batch, positions); 0 where there is no label."""
    if label not in labels:
        return [np.zeros(call.shape[:2], np.int64) for call in calls]
    return [entry[: call.shape[0], : call.shape[1]] for entry, call in zip(labels[label], calls, strict=False)]


def apart(calls: Sequence[Tensor], labels: Mapping[str, Tensor]) -> dict[str, tuple[float, int, int]]:
    """By schedule, the largest divergence of an answer from the first one to the same tokens (whole prompts come first), the number of
    the call, and the place in it."""
    if "prefix" not in labels or "schedule" not in labels:
        return {}
    known: dict[int, Tensor] = {}
    distances: dict[str, tuple[float, int, int]] = {}
    for number, (answers, prefixes) in enumerate(zip(calls, positions(labels, "prefix", calls), strict=True)):
        schedule = NAMES[int(labels["schedule"][number])]
        for row, column in np.argwhere(prefixes != PADDED):
            prefix, answer = int(prefixes[row, column]), answers[row, column]
            first = known.setdefault(prefix, answer)
            if first is answer or schedule == NAMES[0]:
                continue
            size = float(divergence(first[None], answer[None])[0])
            if not size <= distances.get(schedule, (-1.0, 0, 0))[0]:
                distances[schedule] = (size, number, int(column))
    return distances


def divergence(expected: Tensor, actual: Tensor) -> Tensor:
    """Of each row of log-probabilities, in nats, and never below 0, where only rounding would take it."""
    with np.errstate(invalid="ignore"):
        terms = np.where(expected > -np.inf, np.exp(expected) * (expected - actual), 0.0)
    return np.maximum(terms.sum(axis=-1), 0.0)  # type: ignore[no-any-return]


def _perplexity(logs: Tensor, followed: Tensor) -> float:
    scored = followed >= 0
    return float(np.exp(-np.mean(logs[scored, followed[scored]])))
