"""A finding of a model as the note of an error: with the parts that it names as notes of their own."""

from __future__ import annotations

from assay.core.finding import Fact as Value
from assay.core.model_finding import Area, Fact, ModelFinding
from assay.core.model_part import ModelPart, PartKind
from assay.core.note import Note, NoteCode, noted


def model_finding_note(finding: ModelFinding) -> Note:
    """What `model_finding_of` reads."""
    values = {
        f"value{at}": _part_note(value) if isinstance(value, ModelPart) else value
        for at, value in enumerate(finding.values)
    }
    row = noted(NoteCode.MODEL_FINDING, area=finding.area.value, finding=finding.code, about=_part_note(finding.about))
    return Note(row.code, {**row.facts, **values})


def model_finding_of(note: Note) -> ModelFinding:
    """What `model_finding_note` was made of. Raises KeyError or ValueError for what is none."""
    values = tuple(_value(fact) for name, fact in note.facts.items() if name.startswith("value"))
    about = note.facts["about"]
    return ModelFinding(Area(str(note.facts["area"])), str(note.facts["finding"]), _part(about), values)


def _part_note(part: ModelPart) -> Note:
    named = noted(NoteCode.MODEL_PART, kind=part.kind.value, name=part.name, number=part.number, operator=part.operator)
    return named if part.inside is None else Note(named.code, {**named.facts, "inside": _part_note(part.inside)})


def _part(fact: Value | Note) -> ModelPart:
    if not isinstance(fact, Note):
        raise ValueError(fact)
    inside, number = fact.facts.get("inside"), fact.facts["number"]
    return ModelPart(
        PartKind(str(fact.facts["kind"])),
        str(fact.facts["name"]),
        number if isinstance(number, int) else -1,
        str(fact.facts["operator"]),
        None if inside is None else _part(inside),
    )


def _value(fact: Value | Note) -> Fact:
    if isinstance(fact, Note):
        return _part(fact)
    return fact if isinstance(fact, int | str) else str(fact)
