"""The table of `real_models.py`: one row for the models of a flow that have the same verdict for the same reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

REASON_LENGTH = 200


@dataclass(frozen=True)
class Line:
    """One verdict. `distance` is the relative L2 distance to the nearest independent engine (`peer`), None without one."""

    model: str
    inputs: str
    flow: str
    verdict: str
    reference: str
    distance: float | None
    peer: str
    answer: str
    seconds: float
    progress_s: float
    reason: str


def kept(file: Path, lines: Sequence[Line]) -> list[Line]:
    """What the file has and these, the later in place of the earlier; the file is written again."""
    earlier = [Line(**json.loads(text)) for text in file.read_text().splitlines()] if file.exists() else []
    every = {(line.model, line.inputs, line.flow): line for line in [*earlier, *lines]}
    file.write_text("".join(json.dumps(asdict(line)) + "\n" for line in every.values()))
    return list(every.values())


def shown(line: Line) -> str:
    far = "-" if line.distance is None else f"{line.distance:.1e}"
    reason = "" if line.verdict == "pass" else f"  {line.reason[:REASON_LENGTH]}"
    return (
        f"{line.answer:7}  {line.model:26} {line.inputs:13} {line.flow:20} {line.verdict:12} {far:8} "
        f"{line.seconds:5.1f} s  first sign {line.progress_s:.1f} s{reason}"
    )


def summary(lines: Sequence[Line]) -> Iterator[str]:
    for way in ("first contact", "plausible"):
        some = [line for line in lines if line.inputs == way]
        if some:
            counts = Counter(line.answer for line in some)
            seconds = sorted({(line.model, line.seconds) for line in some}, key=lambda pair: pair[1])
            median = seconds[len(seconds) // 2][1]
            yield (
                f"{way}: {len(some)} verdicts on {len({line.model for line in some})} models: {counts['right']} right, "
                f"{counts['WRONG']} wrong, {counts['vacuous']} vacuous, {counts['open']} open, {counts['skip']} skipped; "
                f"command over all flows: median {median:.1f} s, longest {seconds[-1][1]:.1f} s ({seconds[-1][0]})"
            )


def page(lines: Sequence[Line], title: str, where: str) -> Iterator[str]:
    yield f"# {title}"
    yield ""
    yield f"Made by `python benchmarks/real_models.py`{where}. In brackets: relative L2 distance between the flow's own answers"
    yield "and those of the nearest engine of another library, called directly: ONNX Runtime without optimisation, OpenVINO in float32"
    yield "without dynamic quantization, or onnx's reference evaluator where one of those cannot run the model. A verdict is *right* where"
    yield "it agrees with that, *vacuous* where other inputs have the same answers, *open* where it decides nothing or nobody else can say."
    yield ""
    for text in summary(lines):
        yield f"* {text}"
    yield ""
    yield "| flow | inputs | verdict | the verdict is | models | why |"
    yield "|---|---|---|---|---|---|"
    groups: dict[tuple[str, str, str, str, str], list[Line]] = {}
    for line in lines:
        reason = "" if line.verdict == "pass" and line.answer == "right" else line.reason[:REASON_LENGTH]
        groups.setdefault((line.flow, line.inputs, line.verdict, line.answer, reason), []).append(line)
    for (flow, inputs, verdict, answer, reason), some in sorted(groups.items()):
        models = ", ".join(f"{line.model}{_far(line)}" for line in some)
        yield f"| {flow} | {inputs} | {verdict} | {answer} | {models} | {reason.replace('|', '/')} |"


def _far(line: Line) -> str:
    return "" if line.distance is None else f" ({line.distance:.0e})"
