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
from assay.models.own_data.prompts.signature import IDS, LOGITS, Signature, signature_of
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.ports import Tensor
from assay.task_metrics.language import log_probabilities
from assay.worker.reference.reference_evaluation import evaluate

Prompt = tuple[int, ...]


@dataclass
class Oracle:
    """`prompts` are those of the case. Of each beginning that was asked for, the log-probabilities of the next token."""

    source: Path
    signature: Signature
    prompts: list[Prompt]
    noise: Tensor = field(default_factory=lambda: np.zeros(0))
    _known: dict[Prompt, Tensor] = field(default_factory=dict)
    _noise: dict[Prompt, Tensor] = field(default_factory=dict)

    def learn(self, texts: Iterable[Sequence[int]]) -> None:
        """Evaluate these token by token: every beginning of them is known then."""
        new = [text for text in dict.fromkeys(map(tuple, texts)) if text not in self._known]
        if not new:
            return
        calls = [self.signature.call(np.array([text]), np.ones((1, len(text)), np.int64), first=True) for text in new]
        for text, logs in zip(new, log_probabilities(evaluate(self.source, calls), LOGITS), strict=True):
            for length in range(1, len(text) + 1):
                self._known[text[:length]] = logs[0, length - 1]

    def knows(self, beginning: Prompt) -> bool:
        """Whether it was learnt."""
        return beginning in self._known

    def logs(self, beginning: Prompt) -> Tensor:
        """Of all tokens behind it."""
        return self._known[beginning]

    def deviation(self, beginning: Prompt) -> Tensor:
        """Of the log-probabilities of a correct service: of the logit itself, and of the sum that all are divided by."""
        noise = self._noise.get(beginning, self.noise)
        return noise + float(np.exp(self.logs(beginning)) @ noise)


def oracle_of(job: VerifyJob, golden: Golden, judging: ToleranceComparator) -> Oracle:
    """Raises UsageError where the inputs of the case are no prompts. Noise is that of the derived tolerance, at
    other beginnings than those of the prompts the largest of each token there; none where no tolerance was derived."""
    if "schedule" not in golden.labels or any(IDS not in sample for sample in golden.inputs):
        raise UsageError(noted(NoteCode.NO_PROMPTS, flow=job.flow.name, model=job.case.name))
    whole = [number for number, schedule in enumerate(golden.labels["schedule"]) if schedule == NAMES.index("whole")]
    prompts = [tuple(map(int, golden.inputs[one][IDS][0])) for one in whole]
    found = Oracle(Path(job.case.model.source), signature_of(job.case.model, golden.lock.state), prompts)
    deviations = judging.profile.deviation if judging.profile is not None else []
    for number, prompt in zip(whole, prompts, strict=True):
        logs = log_probabilities([golden.outputs[number]], LOGITS)[0][0]
        found._known |= {prompt[: at + 1]: logs[at] for at in range(len(prompt))}
        if number < len(deviations) and LOGITS in deviations[number]:
            noise = np.asarray(deviations[number][LOGITS][0], np.float64)
            found._noise |= {prompt[: at + 1]: noise[at] for at in range(len(prompt))}
    if found._noise:
        found.noise = np.max(list(found._noise.values()), axis=0)
    return found
