"""The sentence of each note of a worker: the one place where they become words."""

from __future__ import annotations

import enum
import signal
from collections.abc import Callable, Mapping, Sequence

from assay.core.constraint import unmet_constraint
from assay.core.finding import Fact
from assay.core.model_finding_note import model_finding_of
from assay.core.model_finding_text import UNREADABLE, sentence
from assay.core.note import Note, NoteCode
from assay.core.recorded_facts import OTHER_FACTS, as_words, listed, number, of_another_version
from assay.core.refusals.availability_codes import AvailabilityCode
from assay.core.refusals.backend_codes import BackendCode
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.core.refusals.golden_codes import GoldenCode
from assay.core.refusals.model_codes import ModelCode
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.core.refusals.usage_codes import UsageCode
from assay.core.wire import Changed
from assay.judge.refusals import REFUSAL_TEXTS
from assay.judge.refusals.delegate_text import delegate_install, delegate_place
from assay.judge.refusals.endpoint_text import CERTIFICATES, UNTRUSTED
from assay.judge.refusals.model_text import PROGRAM_TEXTS
from assay.judge.refusals.mutation_sites import mutation_needs
from assay.judge.words.changed_process_text import CHANGED
from assay.judge.words.constraint_text import constraint_text
from assay.judge.words.defect_text import decider_text, defects_text
from assay.judge.words.element_text import in_full
from assay.judge.words.note_sentences import NOTES
from assay.task_metrics.registry import TASK_METRICS, TaskMetric, label_name

Facts = Mapping[str, Fact]

_TEXTS = NOTES | REFUSAL_TEXTS


def counted(count: Fact, singular: str, many: str) -> str:
    """`1 tie`, `2 ties`."""
    return f"{count} {singular if count == 1 else many}"


def _signal_name(at: int) -> str:
    return signal.Signals(at).name if at in set(signal.Signals) else f"signal {at}"


def _ending(status: int) -> str:
    """Of a process that should have said more before it ended."""
    if status < 0:
        return _signal_name(-status)
    return f"exit code {status}" if status else "null"


def _tried(dimensions: Sequence[Fact], sizes: Sequence[Fact]) -> str:
    shown = ", ".join(f"{name}={size}" for name, size in zip(dimensions, sizes, strict=True))
    return f" (tried with {shown})" if shown else ""


def _either(names: Sequence[Fact]) -> str:
    return " or ".join(f"'{name}'" for name in names)


def _task_metric(name: Fact) -> TaskMetric:
    return TASK_METRICS[str(name)]


def _options(dimensions: Sequence[Fact]) -> str:
    """By which sizes could be stated otherwise."""
    named = " ".join(f"--dim {name}=SIZE" for name in dimensions)
    return f"state other sizes with {named}, or " if dimensions else ""


_MADE: dict[enum.StrEnum, Callable[[Facts], dict[str, object]]] = {
    NoteCode.DEFECTS_NOT_SEEN: lambda of: {"listed": defects_text(of["kinds"], of["places"], of["sizes"])},
    NoteCode.PASSES_COARSELY: lambda of: {
        "torch_percent": 100.0 * number(of["torch"]),
        "onnx_percent": 100.0 * number(of["onnx"]),
    },
    NoteCode.TIES: lambda of: {
        "ties": counted(of["count"], "tie: an answer that differs", "ties: answers that differ"),
        "decider": decider_text(of["margin"]),
        "at": "at" if of["count"] == 1 else "first at",
        "expected_in_full": in_full(number(of["expected"])),
        "actual_in_full": in_full(number(of["actual"])),
    },
    NoteCode.SAMPLES_SET_ASIDE: lambda of: {
        "left_out": f"{len(listed(of['numbers']))} of {counted(of['samples'], 'sample', 'samples')} "
        + ("proves nothing" if len(listed(of["numbers"])) == 1 else "prove nothing"),
        "them": "it" if len(listed(of["numbers"])) == 1 else "them",
        "percent": 100.0 * number(of["share"]),
    },
    NoteCode.ANSWERS_EMPTY: lambda of: {
        "answers": counted(of["count"], "answer", "answers") + (" was" if of["empty"] == 1 else " were")
    },
    NoteCode.COMPANION_LEFT_OUT: lambda of: {
        "left_out": counted(
            of["count"], "sample of the golden's companion was", "samples of the golden's companion were"
        )
    },
    NoteCode.MESSAGES_IGNORED: lambda of: {"messages": counted(of["count"], "message", "messages")},
    NoteCode.FEW_IN_PRECISION: lambda of: {
        "computing": counted(of["operators"], "computing operator", "computing operators")
        + (" runs" if of["count"] == 1 else " run")
    },
    NoteCode.DRIFTED: lambda of: {
        "spent": counted(of["calls"], "call", "calls"),
        "listed": ", ".join(
            f"'{name}' {value:.2g}" for name, value in zip(listed(of["outputs"]), listed(of["apart"]), strict=True)
        ),
    },
    NoteCode.KEPT_REFUSAL: lambda of: {
        "when": f" of {of['at']}, which took {of['seconds']:.1f} s," if of["at"] else ""
    },
    NoteCode.TOOL_FAILED: lambda of: {
        "ending": f"ended with exit status {of['status']}"
        if number(of["status"]) >= 0
        else f"was ended by {_signal_name(-int(number(of['status'])))}",
        "said": f": {of['line']}" if of["line"] else ", and wrote nothing",
    },
    NoteCode.NOTHING_DELEGATED: lambda of: {
        "why": f"all operators were left to another device ({', '.join(map(str, listed(of['operators'])))})"
        if of["operators"]
        else "nothing that computes is left of the model, or the backend does not name it"
    },
    NoteCode.TOO_FEW_CORES: lambda of: {"usable": f"{of['cores']:g} core{'s' * (of['cores'] != 1)}"},
    NoteCode.NO_INPUTS: lambda of: {
        "tried": _tried(listed(of["dimensions"]), listed(of["sizes"])),
        "option": ("state other values with --input-range or --input-value, or " if of["ranges"] else "")
        + _options(listed(of["stated"])),
    },
    NoteCode.LOST_TO_NOISE: lambda of: {"percent": 100.0 * number(of["share"])},
    NoteCode.ELEMENTS_NOT_JUDGED: lambda of: {"kind": of["dtype"] or "no numbers"},
    NoteCode.UNREADABLE_FILE: lambda of: {
        "predicate": UNREADABLE[str(of["finding"])].format(*listed(of["values"])),
    },
    AvailabilityCode.CUDA_DEVICE_NOT_USED: lambda of: {"said": f" {of['error']}" if of["error"] else ""},
    AvailabilityCode.ENDED_BY: lambda of: {"ending": _ending(int(number(of["status"])))},
    BackendCode.DELEGATE_NOT_IN_RUNTIME: lambda of: {"place": delegate_place(of["delegate"])},
    BackendCode.DELEGATE_NOT_HERE: lambda of: {"place": delegate_place(of["delegate"])},
    BackendCode.DELEGATE_NEEDS: lambda of: {"install": delegate_install(of["delegate"])},
    EndpointCode.CERTIFICATE: lambda of: {
        "what": CERTIFICATES.get(int(number(of["code"])), UNTRUSTED)[0],
        "then": CERTIFICATES.get(int(number(of["code"])), UNTRUSTED)[1],
    },
    UsageCode.MUTATION_NEEDS: lambda of: {"needs": mutation_needs(str(of["operator"]), listed(of["operators"]))},
    UsageCode.PLUGIN_BROKEN: lambda of: {"source": f" of {of['distribution']}" if of["distribution"] else ""},
    EndpointCode.BUSY: lambda of: {"times": "once" if of["tries"] == 1 else f"{of['tries']} times"},
    ModelCode.PROGRAM_TEXT: lambda of: {
        "what": PROGRAM_TEXTS.get(str(of["key"]), f"a {of['key']} that is no name"),
    },
    GoldenCode.NONE_LEFT_TO_JUDGE: lambda of: {
        "left": counted(of["samples"], "sample", "samples"),
        "fewer": ", or ask for fewer with --calibration" if number(of["wanted"]) > 1 else "",
    },
    TaskMetricCode.LABELS_NOT_READ: lambda of: {
        "wanted": _either(listed(of["read"])),
        "there": _either(listed(of["given"])),
    },
    TaskMetricCode.OPTION_VALUE: lambda of: {
        "wanted": _task_metric(of["task"]).options[str(of["option"])](of["value"]),  # type: ignore[arg-type]
    },
    TaskMetricCode.NOT_SCORED: lambda of: {
        "of_labels": "".join(
            f", '{name}' of shape [{shape}]"
            for name, shape in zip(listed(of["labels"]), listed(of["shapes"]), strict=True)
        ),
        "reads": _task_metric(of["task"]).reads,
        "wanted": " and ".join(
            f"'{label_name(label.name)}' {label.meaning}" for label in _task_metric(of["task"]).labels
        ),
    },
    NoteCode.PROCESS_CHANGED: lambda of: {
        "what": ", ".join(CHANGED[Changed(str(name))] for name in listed(of["changed"]))
    },
}
"""What a sentence says besides the facts themselves."""
_BY_NAME = {code.value: made for code, made in _MADE.items()}


def _made(code: str, facts: Facts) -> dict[str, object]:
    """Nothing from other facts than its own: an earlier version may have recorded the words themselves."""
    try:
        return _BY_NAME[code](facts) if code in _BY_NAME else {}
    except OTHER_FACTS:
        return {}


def finding_note_text(note: Note) -> str:
    """Of a finding of a model."""
    try:
        return sentence(model_finding_of(note))
    except OTHER_FACTS:
        return of_another_version(note.code, note.facts)


def note_text(note: Note | str | None) -> str:
    """The sentence; "" where there is no note, and words of others as they are."""
    if note is None or isinstance(note, str):
        return note or ""
    if note.code == NoteCode.MODEL_FINDING:
        return finding_note_text(note)
    facts: dict[str, Fact] = {
        name: note_text(fact) if isinstance(fact, Note) else fact for name, fact in note.facts.items()
    }
    shown = as_words(facts)
    try:
        if note.code == NoteCode.UNMET:
            return constraint_text(unmet_constraint(note))
        return _TEXTS[note.code].format(**{**shown, **_made(note.code, facts)})
    except OTHER_FACTS:
        return of_another_version(note.code, shown)
