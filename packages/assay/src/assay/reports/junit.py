"""JUnit XML, as CI systems read it: a suite per flow, a test case per job."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from assay.core.result import Result
from assay.core.result_parts import ComparedResult, native_warnings_of
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.judge.witnesses import described
from assay.judge.words.finding_text import finding_text
from assay.judge.words.warnings_text import critical_warnings
from assay.options.repro import repro_line
from assay.reports.changes import Cell, Line, cells
from assay.reports.rows import Entry, entries, run_verdicts
from assay.reports.sanitize import one_line, sanitize, shortened

ELEMENT = {
    VerdictStatus.FAIL.value: "failure",
    VerdictStatus.XPASS.value: "failure",
    VerdictStatus.ERROR.value: "error",
    VerdictStatus.INCONCLUSIVE.value: "error",
    "": "error",
    VerdictStatus.SKIP.value: "skipped",
    VerdictStatus.XFAIL.value: "skipped",
}
"""JUnit knows no more: what is not proven must not be green, so inconclusive and never executed are errors."""

LOG_LIMIT = 20_000


class JUnit:
    """`classname` the flow, `name` `case [kind]`, `message` the reason; a failure's text ends in its repro line."""

    name = "junit"
    suffix = ".xml"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:
        """Well-formed XML 1.0 whatever the names and logs contain: control characters appear as `\\x07`."""
        root = ET.Element("testsuites", name="assay")
        changed = {(cell.case, cell.flow): cell for cell in cells(judgement.changes)} if judgement.changes else {}
        suites: dict[str, list[Entry]] = {}
        for entry in entries(run, results, judgement):
            suites.setdefault(entry.names[1], []).append(entry)
        for flow, entries_of_flow in suites.items():
            suite = ET.SubElement(root, "testsuite", name=one_line(flow), timestamp=run.started_at)
            for entry in entries_of_flow:
                # Once for each case and flow, with the first of its jobs.
                _case(suite, run, entry, changed.pop((one_line(entry.names[0]), one_line(entry.names[1])), None))
            _sums(suite)
        _run_suite(root, run, results, judgement, executed=bool(suites))
        _sums(root)
        ET.indent(root)
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(suite: ET.Element, run: Run, entry: Entry, change: Cell | None) -> None:
    case, flow = entry.names
    seconds = entry.result.seconds if entry.result else 0.0
    node = ET.SubElement(
        suite, "testcase", classname=one_line(flow), name=f"{one_line(case)} [{entry.kind}]", time=f"{seconds:.3f}"
    )
    if entry.result is not None:
        _properties(node, entry.result, change)
    kind = ELEMENT.get(entry.word)
    if kind is not None:
        element = ET.SubElement(node, kind, message=one_line(entry.reason))
        if kind != "skipped":
            element.set("type", entry.word or "not run")
            element.text = _story(run, entry)
    if entry.result is not None and entry.result.log:
        ET.SubElement(node, "system-out").text = sanitize(shortened(sanitize(entry.result.log), LOG_LIMIT))


def _properties(node: ET.Element, result: Result, change: Cell | None) -> None:
    """Before anything else in a test case: critical warnings, and what stands against the version before."""
    properties = [("critical warning", text) for text in critical_warnings(native_warnings_of(result))]
    if change is not None:
        properties += [("against", note) for note in change.notes]
        properties += [(f"against: {line.label}", _change_text(line)) for line in change.lines]
    if properties:
        holder = ET.SubElement(node, "properties")
        for name, value in properties:
            ET.SubElement(holder, "property", name=name, value=one_line(value))


def _change_text(line: Line) -> str:
    """`4.00 MB -> 4.12 MB (+120 kB (+3.0 %))`, or why there is nothing to tell."""
    if not line.before or not line.after:
        return line.change
    return f"{line.before} -> {line.after} ({line.change})"


def _story(run: Run, entry: Entry) -> str:
    lines = [entry.reason]
    result = entry.result
    if result is not None:
        lines += [f"outcome: {result.outcome.value} in {result.stage.value}"]
        lines += [result.detail] if result.detail else []
        compared = result if isinstance(result, ComparedResult) else None
        lines += [f"reference: {reference}"] if compared and (reference := described(compared.reference)) else []
        lines += [f"node: {result.node}"] if result.node else []
        lines += [f"log: {result.log_file}"] if result.log_file else []
        lines += [
            f"{finding.output}: {finding.kind}: {finding_text(finding)}"
            for finding in (compared.findings if compared else ())
        ]
    lines += [f"repeat: {repro_line(run, entry.asked)}"]
    return "\n".join(one_line(line) for line in lines)


def _run_suite(root: ET.Element, run: Run, results: Sequence[Result], judgement: RunVerdict, *, executed: bool) -> None:
    """What belongs to no job (too few cases, nothing executed) is red in a suite of its own."""
    words = [(verdict.word.value, verdict.reason) for verdict in run_verdicts(run, results, judgement)]
    if not executed:
        words.append((judgement.run.word.value, judgement.run.reason))
    red = [(word, reason) for word, reason in words if word in ELEMENT]
    if not red:
        return
    suite = ET.SubElement(root, "testsuite", name="run", timestamp=run.started_at)
    for number, (word, reason) in enumerate(red, start=1):
        node = ET.SubElement(suite, "testcase", classname="run", name=f"demand {number}", time="0.000")
        ET.SubElement(node, ELEMENT[word], message=one_line(reason))
    _sums(suite)


def _sums(element: ET.Element) -> None:
    cases = list(element.iter("testcase"))
    element.set("tests", str(len(cases)))
    for kind, name in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(kind) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
