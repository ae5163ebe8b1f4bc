"""One line for what was fed as one input."""

from __future__ import annotations

from assay.core.engine_info import EngineInfo
from assay.core.input_plan import InputFacts, InputRange, RangeSource
from assay.judge.words.note_text import note_text

_SIZES = ("size.", "bounds.")
_MASK = "mask"
_SOURCES = {
    RangeSource.UNKNOWN: "",
    RangeSource.OPERATOR: "{operator}{named}",
    RangeSource.STATED: "as stated",
    RangeSource.COMPARED: "what Equal compares it with",
    RangeSource.TYPE: "all that its type holds",
    RangeSource.NUMBERS: "numbers, by what reads it",
    RangeSource.THRESHOLDS: "about what its trees compare with",
    RangeSource.TRIED: "tried on the reference",
}


def used_inputs(input_facts: InputFacts) -> str:
    """`ids int64 [1, 16] from 3 to 30110 (0 to 30521 (Gather 'embedding'))`."""
    shapes = " or ".join(str(list(shape)) for shape in input_facts.shapes[:3])
    values = (
        ""
        if input_facts.least is None or input_facts.most is None
        else f" from {input_facts.least:.4g} to {input_facts.most:.4g}"
    )
    if input_facts.least == input_facts.most and input_facts.least is not None:
        values = f" = {input_facts.least:.6g}"
    return f"{input_facts.name} {input_facts.dtype} {shapes}{values}{f' ({choice})' if (choice := source(input_facts)) else ''}"


def source(input_facts: InputFacts) -> str:
    """Where its values come from: `N=1; 0 to 30521 (Gather 'embedding')`."""
    if input_facts.golden:
        return "stored"
    texts = [f"{name}={size}" for name, size in input_facts.sizes.items()]
    if input_facts.range is not None:
        texts.append(_range(input_facts.range))
    elif input_facts.floats:
        texts.append(input_facts.floats)
    if input_facts.products:
        texts.append(
            f"few samples, for one takes {input_facts.products / 1e9:.3g} billion products (--samples says how many)"
        )
    if input_facts.changes:
        texts.append(f"after other inputs were refused: {', '.join(map(note_text, input_facts.changes))}")
    return "; ".join(texts)


def _range(input_range: InputRange) -> str:
    named = f" '{input_range.node}'" if input_range.node else ""
    source = _SOURCES[input_range.source].format(operator=input_range.operator, named=named)
    why = f" ({source})" if source else ""
    if input_range.texts:
        return f"of {len(input_range.texts)} texts{why}"
    if input_range.choices:
        return f"{' or '.join(f'{number:.6g}' for number in input_range.choices)}{why}"
    if input_range.kind == _MASK:
        return f"ones before zeros{why}"
    ends = ["any" if end is None else f"{end:.6g}" for end in (input_range.low, input_range.high)]
    return f"{ends[0]} to {ends[1]}{why}"


def built_for(facts: EngineInfo) -> str:
    """`built for height=96, batch=1..32`: sizes of dynamic dimensions that are fixed in the engine. "" where none is."""
    by_name = {name.partition(".")[2]: size for name, size in facts.options.items() if name.startswith(_SIZES)}
    sizes = [f"{name}={_one(size)}" for name, size in by_name.items()]
    return f"built for {', '.join(sizes)}" if sizes else ""


def _one(size: str) -> str:
    """`16..16` is 16."""
    least, _, most = size.partition("..")
    return least if least == most else size
