"""What triage found of one red verdict: codes and numbers; the words are made by `triage/triage_text.py`."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from assay.core.flow import Option
from assay.judge.operator_regressions import Change
from assay.triage.origin import Origin
from assay.triage.passes import Cure
from assay.triage.since import History
from assay.triage.speed import Speed
from assay.triage.symptom import Symptom

Read = TypeVar("Read")


class Where(enum.StrEnum):
    """What is wrong. `whole`: nothing smaller than the model could be shown to be."""

    NODE = "node"
    COMBINATION = "combination"
    WHOLE = "whole"


class Doubt(enum.StrEnum):
    """What was not established."""

    NOT_REPEATED = "not_repeated"
    NO_VALUES = "no_values"
    NOT_LOCALIZED = "not_localized"
    OUT_OF_TIME = "out_of_time"
    NO_SWITCHES = "no_switches"
    SLIPPED = "slipped"
    NO_SCRIPT = "no_script"
    NO_SCRIPT_OF_UNSTABLE = "no_script_of_unstable"
    SCRIPT_UNCONFIRMED = "script_unconfirmed"
    CURE_UNCONFIRMED = "cure_unconfirmed"


class Pattern(msgspec.Struct, frozen=True):
    """Nodes that were wrong together: their operators in the order of the graph, and which reads which. `folder` has the page.

    `types` are those of each operator, as in `GraphNode`, or "float", "int", "bool" of what it reads first (none: any): a defect of
    floating numbers is none of whole ones.

    Of a cause that nothing cures: it is known again only by exactly these `attributes` and `types` of each operator, under these
    `versions`.

    Of a finding: only models below `before_opset` (0: any) have it; `attributes` of each operator are there with that value ("*": any,
    "": left out), the pass `cure` makes it right, what is wrong there is of the kind `symptom` (each "": whatever), `title` says what is
    wrong and `seen` is the release in which that was measured."""

    backend: str
    operators: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    folder: str = ""
    attributes: tuple[dict[str, str], ...] = ()
    cure: str = ""
    title: str = ""
    seen: str = ""
    symptom: str = ""
    before_opset: int = 0
    versions: dict[str, str] = {}
    types: tuple[tuple[str, ...], ...] = ()


class Cause(msgspec.Struct, frozen=True):
    """`symptom` is that of the part, `end` that of the verdict, `small_error` the relative L2 error of the small model after it was made
    simpler. `nodes` and `operators` are those of the small model in their order, of the `nodes_of_model` that there were. `elsewhere` are
    the last nodes of other places where the same nodes are wrong; `explains`
    is the share of the end's error that goes when all these give right values.

    `saved`: the engine is right as it is built, and wrong once it was saved and loaded.
    `right_transforms`: with one of these in place of the flow's own the whole model is right.
    `options` are those under which it fails with the least, `cures` make it right (`tried` changes were tried),
    `origin` is the stage that has no switch; `whole_cured` says
    whether the first makes the whole right, too; `cost` is its time over that without (`cost_speed`: whether
    that is more than chance). `healing_taps` are inner values that
    make the part right when they are outputs. `detail` is what a job said that kept triage from going on, `failed` how
    often the whole failed in `tries`. `slower` are the operators that take
    longer, the first most. `folder` has the small model, the script and the pages; `printed` is what the script says where it
    fails, `since` what other releases make of it. `known_as` is the folder of an earlier cause that this one
    is, or the finding that has `known_title`, `pattern` what a later one is known by."""

    job_key: str
    model: str
    flow: str
    backend: str
    versions: dict[str, str]
    where: Where
    end: Symptom
    symptom: Symptom
    nodes: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    nodes_of_model: int = 0
    explains: float | None = None
    elsewhere: tuple[str, ...] = ()
    kernel: bool = False
    saved: bool = False
    right_transforms: tuple[str, ...] = ()
    cures: tuple[Cure, ...] = ()
    tried: int = 0
    origin: Origin = Origin()
    options: dict[str, Option] = {}
    whole_cured: bool | None = None
    cost: float | None = None
    cost_speed: Speed = Speed.UNKNOWN
    small_error: float | None = None
    healing_taps: tuple[str, ...] = ()
    slower: tuple[Change, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    detail: str = ""
    folder: str = ""
    script: str = ""
    printed: str = ""
    machine: str = ""
    tries: int = 1
    failed: int = 1
    known_as: str = ""
    known_title: str = ""
    pattern: Pattern | None = None
    since: History = History()
    seconds: float = 0.0
    asked: int = 0
    found_at: str = ""


def to_json(value: msgspec.Struct | Sequence[msgspec.Struct]) -> bytes:
    """Numbers that JSON has not are texts: "inf", "nan"."""
    return msgspec.json.encode(_finite(msgspec.to_builtins(value)))


def from_json(text: bytes, kind: type[Read]) -> Read:
    """What `to_json` wrote. Raises MsgspecError."""
    return msgspec.json.decode(text, type=kind, strict=False)


def _finite(value: object) -> object:
    match value:
        case dict():
            return {name: _finite(item) for name, item in value.items()}
        case list() | tuple():
            return [_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
    return value
