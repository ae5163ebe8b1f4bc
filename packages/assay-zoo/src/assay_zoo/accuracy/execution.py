"""One notebook of a submission, executed in the sandbox, and what became of it as a check."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay.ports import Sandbox
from assay_zoo.accuracy.notebook_report import Report, Trouble, read_report
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.submission import SubmissionContext

_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([^']{1,100})'")
_OF_RUNTIME = re.compile(r"ONNXRuntimeError|onnxruntime")
"""In an exception of the runtime about the model."""
_NAMED = 5
"""Files that a sentence names."""
_LONGEST = 300
"""Characters of a third party's words in a sentence of ours."""


@dataclass(frozen=True)
class Executed:
    """`report` is None where the notebook did not run to its end: then `check` says why."""

    check: Check
    report: Report | None
    output: Path


def execute(
    name: str, notebook: str, wanted: str, place: SubmissionContext, sandbox: Sandbox, output: Path
) -> Executed:
    """Run `notebook`, and keep the file `wanted` ("": none) that it writes."""
    run = place.policy.run
    limits = SandboxLimits(
        seconds=run.seconds, memory_bytes=run.memory_bytes, disk_bytes=run.disk_bytes, processes=run.processes
    )
    command = [
        "python",
        "-m",
        "assay_zoo.accuracy.notebook",
        "/in/submission",
        notebook,
        "/work",
        *([wanted] if wanted else []),
    ]
    ended = sandbox.run(command, inputs={"submission": place.folder}, output=output, limits=limits)
    report = read_report(output)
    check = _check(name, notebook, ended, report, place.policy.packages)
    return Executed(check, report if check.outcome is CheckOutcome.PASSED else None, output)


def _check(name: str, notebook: str, ended: Sandboxed, report: Report | None, packages: Sequence[str]) -> Check:
    cells = len(report.printed) if report else 0
    trouble = report.trouble if report else None
    outcome, sentence = _outcome(notebook, ended, report, trouble, packages)
    return Check(
        name,
        outcome,
        sentence,
        notebook,
        trouble.line if trouble else 0,
        executed=cells,
        seconds=ended.seconds,
        figures={"cells": float(cells), "process_peak_bytes": float(ended.peak_bytes)},
        of_runtime=trouble is not None and _OF_RUNTIME.search(trouble.sentence) is not None,
    )


def _outcome(
    notebook: str, ended: Sandboxed, report: Report | None, trouble: Trouble | None, packages: Sequence[str]
) -> tuple[CheckOutcome, str]:
    if ended.ending is Ending.INFRASTRUCTURE:
        return CheckOutcome.INFRASTRUCTURE, ended.sentence
    if report is not None and report.written:
        files = ", ".join(map(_plain, report.written[:_NAMED]))
        text = f"{notebook} writes code ({files}): a submission runs as it was handed in"
        return CheckOutcome.FAILED, text
    if report is not None and trouble is None and ended.ending is Ending.OK:
        return CheckOutcome.PASSED, "; ".join((f"{len(report.printed)} cells were executed", *ended.notes))
    if report is None or trouble is None:
        return CheckOutcome.FAILED, f"{notebook} was not executed to its end: {ended.sentence}"
    if trouble.kind == "start":
        cause = f" ({ended.sentence})" if ended.ending is not Ending.ERROR else ""
        text = f"the kernel of {notebook} did not start{cause}; a script of the submission may hide a package that it needs"
        return CheckOutcome.UNDECIDED, text
    where = f"cell {trouble.cell} of {notebook}" if trouble.cell else notebook
    if trouble.kind == "running":
        return CheckOutcome.FAILED, f"{where} did not end: {ended.sentence}"
    if trouble.kind == "exception" and (module := _missing(trouble.sentence)):
        return _not_there(where, module, packages)
    more = "" if ended.ending in (Ending.OK, Ending.ERROR) else f" ({ended.sentence})"
    return CheckOutcome.FAILED, f"{where}: {_plain(trouble.sentence)}{more}"


def _missing(sentence: str) -> str:
    """The package that was not found as a whole; "" where something else went wrong."""
    match = _NO_MODULE.match(sentence)
    top = match[1].partition(".")[0] if match else ""
    return "" if not top.isidentifier() or importlib.util.find_spec(top) is not None else top


def _not_there(where: str, module: str, packages: Sequence[str]) -> tuple[CheckOutcome, str]:
    """What the zoo allows must be here: that it is not is the machine's fault. Everything else is the submission's."""
    if module in packages:
        text = f"{where} imports {module!r}, which this zoo allows and the Python of this machine does not have"
        return CheckOutcome.INFRASTRUCTURE, f"{text}: whoever keeps the machine installs it beside Assay"
    text = f"{where} imports {module!r}, which is neither in the submission nor a package of this zoo"
    return CheckOutcome.FAILED, f"{text} ({', '.join(packages)}): hand it in, or do without"


def _plain(text: str) -> str:
    """One line of a third party's words, without what a terminal would obey."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:_LONGEST]).split())
