"""Stored reference outputs with provenance: the contents of golden.lock."""

from __future__ import annotations

import msgspec

from assay.core.input_plan import InputPlan

REFERENCE = "reference of a check without goldens"
"""The reason of reference outputs that nobody asked to be kept."""

GIVEN = "given"
"""The producer of outputs that a user brought with the inputs."""

WHOLE, IDS, SKETCH = "whole", "ids", "sketch"
FORMS = (WHOLE, IDS, SKETCH)
"""What is kept of answers: all of them; of those to prompts nothing but the tokens, which the reference answers again; or a sketch of each
token's probabilities."""


class GoldenTensor(msgspec.Struct, frozen=True):
    """One tensor of all samples stacked on axis 0. `role` is input, output, label or sketch; `sha256` that of its bytes in the file, by
    which it can be read alone, "" where an earlier version did not say."""

    name: str
    role: str
    dtype: str
    shape: tuple[int, ...]
    sha256: str = ""


class GoldenFile(msgspec.Struct, frozen=True):
    """One safetensors file of the folder, by content."""

    path: str
    sha256: str
    size_bytes: int
    tensors: tuple[GoldenTensor, ...]


class GoldenRevision(msgspec.Struct, frozen=True):
    """Who recorded an earlier state of a golden, when, by what, and why."""

    reason: str
    who: str
    created_at: str
    producer: str
    producer_version: str
    model_digest: str


class GoldenLock(msgspec.Struct, frozen=True):
    """golden.lock. `samples` is how many are stacked on axis 0 of every tensor: stored shape is (samples, *shape that the model takes).

    * A *sample* is one run of the model at batch 1; it keeps its batch axis. With `state` (an output: the input of the next call that it
      is fed into) samples are calls in order, each with the state that it was given, and `sequences` says how many belong to each
      sequence. In a `form` that is not whole they are prompts, with their tokens alone; `vocabulary` is how many tokens there are.
    * `plan` is how the inputs were chosen; None where they were given.
    * `library` is whose code the producer runs, "" where that is not known. `refusals` are what those said who were asked before it.
    * `kept`: somebody asked for these outputs; they are no reference that a check computed by itself.
    * `earlier` are the states that this one took the place of, oldest first.
    * `coarse` is that of the model (`Model.coarse`); unset where nobody looked for them.
    """

    model_digest: str
    model_name: str
    samples: int
    seed: int
    producer: str
    producer_version: str
    who: str
    reason: str
    created_at: str
    files: tuple[GoldenFile, ...]
    version: int = 1
    plan: InputPlan | None = None
    state: dict[str, str] = {}
    sequences: tuple[int, ...] = ()
    library: str = ""
    kept: bool = True
    refusals: str = ""
    earlier: tuple[GoldenRevision, ...] = ()
    form: str = WHOLE
    vocabulary: int = 0
    coarse: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET

    def revisions(self) -> tuple[GoldenRevision, ...]:
        """All states, oldest first; the last is this one."""
        now = GoldenRevision(
            self.reason, self.who, self.created_at, self.producer, self.producer_version, self.model_digest
        )
        return (*self.earlier, now)
