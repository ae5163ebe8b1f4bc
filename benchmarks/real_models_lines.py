"""What `real_models.py` keeps of each verdict, and what it is worth: the facts are stored, the answer follows from them."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from independent import TOO_FAR

LIMITS = {"float32": 2e-3, "float16": 2e-2, "bfloat16": 5e-2, "int8": 5e-2}
"""Relative L2 distance at which an engine of that precision is another model, where independent engines are no further apart."""
UNIT_ROUNDOFF = 2.0**-24
FACTOR = 1000
"""A float32 engine is right within this many times the distance of two independent float32 engines from each other. Right engines
were seen at up to 60 times, by fast convolutions; the faults of `docs/findings` begin at several thousand."""
UNIT_ROUNDOFFS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "int8": 2.0**-24}
"""Of what the answers are computed in: int8 flows that say what they round compute in float32."""
ROUNDED_FACTOR = 10
"""A flow in float16 or bfloat16 is right within this many times what rounding the weights alone to that type does."""
STORED_FACTOR = 2
"""Where it is known what rounding every value does, it is right within this many times that: an engine rounds no more often. Right
engines were seen at up to 1.4 times, MNN, which cuts weights off instead of rounding them, at 2.9 times."""
PAIR_FACTOR = 3
"""Where two independent engines are far apart, an engine is right within this many times that distance."""


@dataclass(frozen=True)
class Line:
    """One verdict. `distance` is relative L2 from the flow's answers to the nearest independent engine (`peer`), `pair` that of the two
    independent engines from each other, `rounded` how far weights rounded to the flow's type move the answers, `stored` how far every
    value of the model does, rounded; None where there is none. `empty`: other inputs have the same answers."""

    model: str
    inputs: str
    flow: str
    precision: str
    quantized: bool
    verdict: str
    reference: str
    distance: float | None
    peer: str
    pair: float | None
    empty: bool
    seconds: float
    progress_s: float
    load: float
    day: str
    reason: str
    rounded: float | None = None
    stored: float | None = None

    @property
    def usual(self) -> float:
        """The limit of the declared precision."""
        return LIMITS.get(self.precision, LIMITS["float32"])

    @property
    def limit(self) -> float:
        """The distance at which the engine is another model. Two independent engines say it best: in float32 it is `FACTOR` times
        their distance, or as many unit roundoffs, and never below `PAIR_FACTOR` times it; in float16 and bfloat16 what rounded values
        do says it (`STORED_FACTOR`), or what rounded weights do (`ROUNDED_FACTOR`); else the limit of the precision. In a file that is
        quantized itself, one value that falls to the next step moves the answers by more than two engines that agree differ."""
        if self.pair is None:
            return LIMITS["int8"] if self.quantized else self.usual
        if self.stored is not None and self.precision in UNIT_ROUNDOFFS:
            return max(
                ROUNDED_FACTOR * UNIT_ROUNDOFFS[self.precision], STORED_FACTOR * self.stored, PAIR_FACTOR * self.pair
            )
        fine = self.usual
        if self.precision == "float32" and not self.quantized:
            fine = FACTOR * max(self.pair, UNIT_ROUNDOFF)
        elif self.rounded is not None and self.precision in UNIT_ROUNDOFFS:
            fine = ROUNDED_FACTOR * max(self.rounded, UNIT_ROUNDOFFS[self.precision])
        return max(min(self.usual, fine), PAIR_FACTOR * self.pair)

    @property
    def answer(self) -> str:
        """right, WRONG, vacuous, skip, other precision (it computes in another than its flow says, so that its distance means nothing),
        crash (the engine's process died, in a fresh one too), undecidable (independent engines are themselves too far apart, or the
        model moves too far where its values are rounded to the flow's type) or open."""
        if self.verdict == "skip":
            return "skip"
        if self.verdict == "fail" and self.reason.startswith("crash"):
            return "crash"
        if self.verdict == "inconclusive" and self.reason.startswith("other precision"):
            return "other precision"
        moved = max(self.pair or 0.0, self.stored or 0.0)
        if (self.verdict == "inconclusive" and moved > self.usual) or (
            self.verdict == "pass" and (self.pair or 0.0) > TOO_FAR
        ):
            return "undecidable"
        if self.verdict not in ("pass", "fail") or self.distance is None:
            return "open"
        if (self.distance <= self.limit) != (self.verdict == "pass"):
            return "undecidable" if self.verdict == "fail" and (self.pair or 0.0) > TOO_FAR else "WRONG"
        return "vacuous" if self.empty and self.verdict == "pass" else "right"


def kept(file: Path, lines: Sequence[Line]) -> list[Line]:
    """What the file has and these, the later in place of the earlier; the file is written again."""
    earlier = [Line(**json.loads(text)) for text in file.read_text().splitlines()] if file.exists() else []
    every = {(line.model, line.inputs, line.flow): line for line in [*earlier, *lines]}
    file.write_text("".join(json.dumps(asdict(line)) + "\n" for _, line in sorted(every.items())))
    return list(every.values())


def portable(reason: str, limit: int = 600) -> str:
    """In one line, without folders of this machine and addresses in its memory."""
    text = " ".join(reason.split())
    for folder in (tempfile.gettempdir(), str(Path.home())):
        text = re.sub(rf"{re.escape(folder)}/[^\s'\":;,)]*/", "", text)
    text = re.sub(r"(?:/[\w.+-]+)+/([\w.+-]+\.(?:onnx|pt2))\b", r"\1", text)
    text = re.sub(r"\b0x[0-9a-f]{6,}\b", "0x…", text)
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"
