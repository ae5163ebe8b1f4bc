"""The sentences of findings that are a zoo's own; all others are the examination's."""

from __future__ import annotations

from assay.core import model_finding_text
from assay.core.model_finding import ModelFinding, Severity
from assay.core.model_part import part_text

OWN = {
    "zoo-ir": "the IR version is {0}, and this zoo's runtimes read up to {1}; export the model for an older version",
    "zoo-opset": "{about} is imported at opset {0}, and this zoo's runtimes read up to {1}; export the model for an older opset",
    "claimed-opset": "metadata.toml claims opset {0}, and the model imports {1}; correct one of them",
    "unknown-fields": "the model holds {0} bytes in fields that ONNX does not have, and that nobody reads; export it again without them",
    "claimed-names": "metadata.toml lists the {0}s {1}, and the model has {2}; correct metadata.toml",
    "claimed-port": "{about}: metadata.toml says {0}, and the model {1}; correct one of them",
    "custom-domain": (
        "{about} is of domain {0}, which this zoo does not take ({1}); use standard operators, or bring it as a function of the model"
    ),
    "branch-by-values": "it takes a way, or ends a loop, by the values of its inputs: whether the test data reach all, a person has to see",
    "unread-data": "it holds {0} bytes from which no output follows, {1} among them: export it without, or a person looks",
    "not-finite": "{about} holds {0} {1} among {2} values; export the model again from sound weights",
    "nan-attribute": "{about} is NaN; give it a number",
    "endless-loop": "{about} has no trip count, and its condition never turns false; give it one",
    "data-loop": "{about} has no trip count, and only its data end it; give it one",
    "loop": "{about} runs {0} times, and this zoo allows {1}; bound it",
    "allocation": "{about} makes {0} of shape {1}, {2} bytes at least, and this zoo allows {3}; make it smaller",
    "allocation-at-one": (
        "{about} makes {0} of shape {1} where every free dimension is 1, {2} bytes at least, and this zoo allows {3}; make it smaller"
    ),
    "declared-size": "{about} has shape {0}: {1} bytes, and this zoo allows {2}; make a size free or smaller",
    "checker-died": "the checker {0} on it (step {1})",
}


def sentence(finding: ModelFinding) -> str:
    """What, where, and what to do."""
    text = model_finding_text.sentence(finding, OWN)
    if finding.severity is Severity.CONTRADICTION:
        return f"{text}; correct the declaration"
    return f"{part_text(finding.about)} {text}" if finding.code in model_finding_text.UNREADABLE else text
