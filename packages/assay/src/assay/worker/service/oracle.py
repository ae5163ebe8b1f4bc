"""What a service should give: log-probabilities in float64, and how far a correct one may be off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from assay.core.job import VerifyJob
from assay.core.note import NoteCode, noted
from assay.core.schedules import NAMES
from assay.errors import UsageError
from assay.models.goldens import Golden
from assay.models.own_data.prompts.beginnings import Beginnings
from assay.models.own_data.prompts.signature import IDS, LOGITS, Signature, signature_of
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.ports import Tensor
from assay.task_metrics.language import log_probabilities
from assay.worker.reference.reference_evaluation import evaluate

Prompt = tuple[int, ...]


@dataclass
class Oracle:
    """`prompts` are those of the case. Of each beginning that was asked for, the log-probabilities of the next token: a row for each token
    of a text, however many stand before it."""

    source: Path
    signature: Signature
    prompts: list[Prompt]
    noise: Tensor = field(default_factory=lambda: np.zeros(0))
    _beginnings: Beginnings = field(default_factory=Beginnings)
    _logs: list[Tensor] = field(default_factory=list)
    _noise: dict[int, Tensor] = field(default_factory=dict)

    def learn(self, texts: Iterable[Sequence[int]]) -> None:
        """Evaluate these token by token: every beginning of them is known then."""
        new = [text for text in dict.fromkeys(map(tuple, texts)) if not self.knows(text)]
        if not new:
            return
        calls = [self.signature.call(np.array([text]), np.ones((1, len(text)), np.int64), first=True) for text in new]
        for text, logs in zip(new, log_probabilities(evaluate(self.source, calls), LOGITS), strict=True):
            self.keep(text, logs[0])

    def keep(self, text: Sequence[int], logs: Tensor, noise: Tensor | None = None) -> None:
        """These rows, one for each token of the text, and the noise of a correct service in each, where it is known."""
        for at, number in enumerate(self._beginnings.of(text)):
            if number == len(self._logs):
                self._logs.append(logs[at])
            if noise is not None:
                self._noise[number] = noise[at]
                self.noise = np.maximum(self.noise, noise[at]) if self.noise.size else noise[at]

    def knows(self, beginning: Prompt) -> bool:
        """Whether it was learnt."""
        return len(self._beginnings.known(beginning)) == len(beginning)

    def all_logs(self, text: Prompt) -> list[Tensor]:
        """Behind each beginning of it that was learnt, the shortest first."""
        return [self._logs[number] for number in self._beginnings.known(text)]

    def logs(self, beginning: Prompt) -> Tensor:
        """Of all tokens behind it."""
        return self._logs[self._number(beginning)]

    def _number(self, beginning: Prompt) -> int:
        numbers = self._beginnings.known(beginning)
        if not beginning or len(numbers) < len(beginning):
            raise KeyError(beginning)
        return numbers[-1]

    def deviation(self, beginning: Prompt) -> Tensor:
        """Of the log-probabilities of a correct service: of the logit itself, and of the sum that all are divided by."""
        number = self._number(beginning)
        noise = self._noise.get(number, self.noise)
        return noise + float(np.exp(self._logs[number]) @ noise)


def oracle_of(job: VerifyJob, golden: Golden, judging: ToleranceComparator) -> Oracle:
    """Raises UsageError where the inputs of the case are no prompts. Noise is that of the derived tolerance, at
    other beginnings than those of the prompts the largest of each token there; none where no tolerance was derived."""
    if "schedule" not in golden.labels or any(IDS not in sample for sample in golden.inputs):
        raise UsageError(noted(NoteCode.NO_PROMPTS, flow=job.flow.name, model=job.case.name))
    whole = [number for number, schedule in enumerate(golden.labels["schedule"]) if schedule == NAMES.index("whole")]
    prompts = [tuple(map(int, golden.inputs[place][IDS][0])) for place in whole]
    oracle = Oracle(Path(job.case.model.source), signature_of(job.case.model, golden.lock.state), prompts)
    deviations = judging.profile.deviation if judging.profile is not None else []
    for number, prompt in zip(whole, prompts, strict=True):
        logs = log_probabilities([golden.outputs[number]], LOGITS)[0][0]
        known = number < len(deviations) and LOGITS in deviations[number]
        oracle.keep(prompt, logs, np.asarray(deviations[number][LOGITS][0], np.float64) if known else None)
    return oracle
