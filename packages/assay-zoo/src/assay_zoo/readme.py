"""The README of a submission: written from its metadata, and below that whatever else its author has to say.

What the metadata say is there once, as it was written from them: nobody compares two texts by their meaning.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay_zoo.metadata import Metadata, Port

TITLES = (
    "Description", "Use cases", "Source", "Inputs and outputs", "Pre- and post-processing", "Data set", "Accuracy",
    "References", "Contributors", "License",
)  # fmt: skip
"""Of the sections that are written from the metadata, in their order."""
_KEYS = {title.casefold() for title in TITLES}


@dataclass(frozen=True)
class Difference:
    """What is wrong with a README; `line` counts from 1, 0 for none."""

    line: int
    sentence: str


def shape_text(shape: Sequence[int | str]) -> str:
    """`(batch, 1, 8, 8)`; `()` for a scalar."""
    return f"({', '.join(map(str, shape))})"


def readme_text(metadata: Metadata, before: str = "") -> str:
    """A README with every required section, written from the metadata. Of the one `before` it the author's own sections stay."""
    written = "\n".join(_parts(metadata))
    own = [block for _, block in _placed(before)[1:] if _heading(block) not in _KEYS]
    return "\n".join([written, *(f"{block.strip()}\n" for block in own)])


def _parts(metadata: Metadata) -> list[str]:
    """The title, then section by section."""
    m = metadata
    bodies = (
        _written(m.description),
        _bullets(m.use_cases),
        _written(m.source),
        "\n".join((*_table("Input", m.inputs), "", *_table("Output", m.outputs))),
        f"`{m.preprocessing}` makes the inputs, `{m.postprocessing}` reads the outputs; `{m.inference}` shows both.",
        "\n".join(f"- {key}: {_written(value)}" for key, value in m.dataset.model_dump().items()),
        f"`{m.accuracy.metric}` = {m.accuracy.value:g} ({m.accuracy.direction} is better), see `{m.validation}`.",
        _bullets(m.references),
        _bullets(m.contributors),
        _written(m.license),
    )
    sections = (f"## {title}\n\n{body}\n" for title, body in zip(TITLES, bodies, strict=True))
    return [f"# {_written(m.title)}\n", *sections]


def _bullets(values: Sequence[str]) -> str:
    return "\n".join(f"- {_written(value)}" for value in values)


def _table(kind: str, ports: Sequence[Port]) -> Iterator[str]:
    yield f"| {kind} | Type | Shape | Meaning |"
    yield "|---|---|---|---|"
    for one in ports:
        yield f"| `{one.name}` | {one.dtype} | `{shape_text(one.shape)}` | {_written(one.description)} |"


def _written(value: str) -> str:
    """The words as Markdown that shows just them: as they are where that does, every sign escaped where it does not."""
    from markdown_it import MarkdownIt

    line = " ".join(value.split())
    tokens = MarkdownIt("commonmark").parse(line)
    kinds = [token.type for token in tokens]
    if (
        kinds == ["paragraph_open", "inline", "paragraph_close"]
        and _plain(tokens[1].children or []) == line
        and "|" not in line
    ):
        return line
    return "".join(f"\\{c}" if c in string.punctuation else c for c in line)


def differences(text: str, metadata: Metadata) -> list[Difference]:
    """Everything in which the README is not what is written from the metadata, in the order of the sections."""
    title, *wanted = (_trimmed(part) for part in _parts(metadata))
    first, *blocks = [(line, _trimmed(block)) for line, block in _placed(text)]
    told = [] if first[1] == title else [Difference(1, f"does not begin with the title alone, {title.strip()!r}")]
    told += missing_sections(text)
    for name, section in zip(TITLES, wanted, strict=True):
        here = [(line, block) for line, block in blocks if _heading(block) == name.casefold()]
        told += [
            Difference(
                line,
                f"does not say in section {name!r} what metadata.toml says: `assay zoo readme --overwrite` writes it",
            )
            for line, block in here
            if block != section
        ]
        told += [
            Difference(line, f"has section {name!r} a second time") for line, block in here[1:] if block == section
        ]
    return told


def missing_sections(text: str) -> list[Difference]:
    """The required sections that are not there, together: all that can be said without metadata."""
    there = {_heading(block) for _, block in _placed(text)[1:]}
    names = [repr(name) for name in TITLES if name.casefold() not in there]
    if not names:
        return []
    listed = f"no section {names[0]}" if len(names) == 1 else f"no sections {', '.join(names[:-1])} and {names[-1]}"
    return [Difference(0, f"has {listed}: `assay zoo readme` writes it from metadata.toml")]


def _placed(text: str) -> list[tuple[int, str]]:
    """What stands before the first heading of the second level, then each of those with what is below it, with the line on
    which it begins. Inside of a fence nothing is a heading."""
    from markdown_it import MarkdownIt

    text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    tokens = MarkdownIt("commonmark", {"maxNesting": 20}).parse(text)
    starts = [
        one.map[0] for one in tokens if one.type == "heading_open" and one.tag == "h2" and one.level == 0 and one.map
    ]
    begins, ends = [0, *starts], [*starts, len(lines)]
    return [(begin + 1, "\n".join(lines[begin:end])) for begin, end in zip(begins, ends, strict=True)]


def _heading(block: str) -> str:
    """The words of the heading with which it begins, whatever its marks."""
    words = block.partition("\n")[0].strip(" #*_`:")
    return " ".join(words.split()).casefold()


def _trimmed(block: str) -> str:
    return "\n".join(line.rstrip() for line in block.strip().split("\n"))


def _plain(children: Sequence[object]) -> str:
    """The words of inline Markdown."""
    return "".join(
        getattr(one, "content", "") for one in children if getattr(one, "type", "") in ("text", "code_inline")
    )
