"""The number of the schema stands for the form of what a history records, not for its tables alone: `recorded_form.txt` has both.

A value in a payload whose form is another can be written, and ends every later command that reads one recorded before."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import inspect

from assay.core.alert import Alert
from assay.core.job import AnyJob
from assay.core.kept_folder import KeptFolder
from assay.core.result import AnyResult
from assay.core.run import Run
from assay.stores.history_tables import FIRST_RELEASED, SCHEMA
from assay.stores.metric_values import Names
from assay.stores.run_names import RunNames

KEPT = Path(__file__).with_name("recorded_form.txt")
RECORDED = (Run, AnyJob, AnyResult, Alert, KeptFolder, Names, RunNames)
"""What the decoders of `assay.stores` are made for."""
OPTIONAL = " (optional)"
ADVICE = (
    "a history that was recorded before cannot be read any more, or loses what it has. While nothing is released raise SCHEMA and "
    "FIRST_RELEASED in stores/history_tables.py and rename the one migration after them; later raise SCHEMA and add a migration that "
    "writes the payloads again. Then run this test with ASSAY_UPDATE_TEXTS=1"
)


def form(kinds: Sequence[Any]) -> Iterator[str]:
    """A line for each struct with its tag, each of its fields, and each value of an enumeration."""
    waiting, seen = list(inspect.multi_type_info(kinds)), set()
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, inspect.StructType | inspect.EnumType):
            if kind.cls in seen:
                continue
            seen.add(kind.cls)
        if isinstance(kind, inspect.EnumType):
            yield from (f"{kind.cls.__name__} = {member.value!r}" for member in kind.cls)
        if isinstance(kind, inspect.StructType):
            tagged = f" {kind.tag_field}={kind.tag}" if kind.tag_field else ""
            yield f"{kind.cls.__name__}{tagged}{' as an array' if kind.array_like else ''}"
            for field in kind.fields:
                end = "" if field.required else OPTIONAL
                yield f"{kind.cls.__name__}.{field.encode_name}: {written(field.type)}{end}"
                waiting.append(field.type)
        waiting += parts(kind)


def parts(kind: Any) -> list[Any]:
    """The types that it is made of, fields apart."""
    each = [getattr(kind, name, None) for name in ("key_type", "value_type", "item_type")]
    return [*filter(None, each), *getattr(kind, "item_types", ()), *getattr(kind, "types", ())]


def written(kind: Any) -> str:
    match kind:
        case inspect.StructType() | inspect.EnumType() | inspect.CustomType():
            return str(kind.cls.__name__)
        case inspect.UnionType():
            return " | ".join(sorted(map(written, kind.types)))
        case inspect.TupleType():
            return f"({', '.join(map(written, kind.item_types))})"
    name = type(kind).__name__.removesuffix("Type").lower().replace("vartuple", "list")
    inner = ", ".join(map(written, parts(kind)))
    return f"{name}[{inner}]" if inner else name


def breaking(before: Sequence[str], now: Sequence[str]) -> list[str]:
    """What was there and is not so any more, and what has to be there and was not recorded."""
    structs = {line.split()[0] for line in before if "." not in line.split()[0]}
    lost = [
        line
        for line in before
        if line not in now and f"{line}{OPTIONAL}" not in now and not still_read(line, before, now)
    ]
    fields = [
        line for line in now if ": " in line and not line.endswith(OPTIONAL) and line.partition(".")[0] in structs
    ]
    read = [line.partition(": ")[0] for line in before if ": " in line and still_read(line, before, now)]
    widened = {f"{field}: {kind}" for field in read for kind in ("str", "float | int")}
    return [*lost, *(field for field in fields if field not in before and field not in widened)]


def still_read(line: str, before: Sequence[str], now: Sequence[str]) -> bool:
    """A text that was one of an enumeration is any text now, a real number may be whole; the values of an enumeration that no field has
    any more are none's."""
    field, _, kind = line.removesuffix(OPTIONAL).partition(": ")
    if kind == "float":
        return line.replace(": float", ": float | int") in now
    if not kind:
        name = line.partition(" = ")[0]
        return name != line and not any(re.search(rf": .*\b{name}\b", other) for other in now)
    texts = any(other.startswith(f"{kind} = '") for other in before)
    return texts and (f"{field}: str{OPTIONAL}" if line.endswith(OPTIONAL) else f"{field}: str") in now


def test_the_recorded_form_and_the_number_of_the_schema_belong_together() -> None:
    number, now = f"schema {SCHEMA}, from {FIRST_RELEASED}", sorted(form(RECORDED))
    assert len(now) == len(set(now)), "two structs of one name"
    kept_number, *kept = KEPT.read_text().splitlines()
    changed = breaking(kept, now)
    assert kept_number != number or not changed, f"{ADVICE}: {changed}"
    if os.environ.get("ASSAY_UPDATE_TEXTS") == "1":
        KEPT.write_text("\n".join([number, *now]) + "\n")
    assert KEPT.read_text().splitlines() == [number, *now], (
        "run again with ASSAY_UPDATE_TEXTS=1: a history recorded before is still read"
    )


BEFORE = ["Area = 'graph'", "Finding", "Finding.about: str", "Finding.area: Area (optional)"]


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        (BEFORE, []),
        ([*BEFORE, "Area = 'node'", "Finding.part: Part (optional)", "Part", "Part.name: str"], []),
        ([*BEFORE[:2], "Finding.about: str (optional)", BEFORE[3]], []),
        ([*BEFORE[:2], "Finding.about: Part (optional)", BEFORE[3]], ["Finding.about: str"]),
        ([*BEFORE, "Finding.part: str"], ["Finding.part: str"]),
        ([*BEFORE[:3], "Finding.area: Area"], ["Finding.area: Area (optional)", "Finding.area: Area"]),
        (BEFORE[1:], ["Area = 'graph'"]),
        (["Finding", "Finding.about: str", "Finding.area: str (optional)"], []),
        (
            ["Finding", "Finding.about: str", "Finding.area: str"],
            ["Finding.area: Area (optional)", "Finding.area: str"],
        ),
        (["Finding", "Finding.about: str", "Finding.area: int (optional)"], ["Finding.area: Area (optional)"]),
        ([BEFORE[0], "Finding type=a", *BEFORE[2:]], ["Finding"]),
    ],
)
def test_what_is_added_is_read_and_what_is_changed_is_not(now: list[str], changed: list[str]) -> None:
    assert breaking(BEFORE, now) == changed
