"""What is published and never run: licence texts, readmes and notebooks as they are read, requirements. In a limited process."""

from __future__ import annotations

import codecs
import csv
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay_zoo.artifacts.installs.page_commands import asked_in_page, without_tags
from assay_zoo.artifacts.installs.project_files import requirements_of
from assay_zoo.artifacts.installs.requirements_file import (
    INSTALLERS,
    NOT_READ,
    UNREAD_TABLE,
    asked_for_in,
    requirement_problems,
)
from assay_zoo.artifacts.installs.settings_files import holds_values, is_of_rights, words_of, words_of_records
from assay_zoo.artifacts.notebooks.shown_notebook import active_in_notebook, rights_in_notebook, sources_of_cells
from assay_zoo.artifacts.pages.active_files import active_pdf, active_table, active_xml
from assay_zoo.artifacts.pages.links import links_in_markdown
from assay_zoo.artifacts.pages.markup import active_html, active_markdown
from assay_zoo.artifacts.pages.model_notes import restriction_in_notes
from assay_zoo.artifacts.pages.shown_code import reached_in_markdown
from assay_zoo.artifacts.pages.template_text import left_in_text
from assay_zoo.artifacts.rights.license import license_named, license_of, other_license_of, restricted_by, stated_in
from assay_zoo.artifacts.rights.own_terms import kept_to_some
from assay_zoo.artifacts.rights.restricted_use import NOTICES, less_allowed, notice_restriction, rights_in_page
from assay_zoo.readme import own_sections
from assay_zoo.text_encoding import decoded, encoding_of, encoding_trouble

_LONGEST_BYTES, _MOST_BYTES = 16 << 20, 256 << 20
_OF_LICENSE = re.compile(
    r"(?:.*[._: -])?(?:spdx[._-]?)?licen[cs]e(?:[._-]?(?:id|name|identifier))?|(?:.*[._: -])?spdx", re.IGNORECASE
)
_RUNS = re.compile(r"\s*(javascript|vbscript|data)\s*:\S", re.IGNORECASE)
"""An address that a page may make a link of."""
_TOO_LONG = f"it has more than {_MOST_BYTES >> 20} MiB, or a line of more than {_LONGEST_BYTES >> 20}, and is not read to its end"


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """(line, words) each. `license` is what the text of a licence is, "" for none that is known, `another` one behind it, `stated` the
    licence that a file for machines or a model says of itself, `external` the files in which a model has its data, `restricted` words in
    it, or in a notice, that allow less, `rights` what other texts say of licences (`rights_in_page`); `perhaps` is what a page may tell
    readers to install or run; `instructs`: a program may take orders from it; `too_long` says why nothing was read."""

    active: tuple[tuple[int, str], ...] = ()
    left: tuple[tuple[int, str], ...] = ()
    links: tuple[tuple[int, str], ...] = ()
    requirements: tuple[tuple[int, str], ...] = ()
    perhaps: tuple[tuple[int, str], ...] = ()
    license: str = ""
    another: str = ""
    stated: str = ""
    external: tuple[str, ...] = ()
    rights: tuple[tuple[int, str, bool], ...] = ()
    restricted: str = ""
    instructs: bool = False
    too_long: str = ""


def inspect_published(item: dict[str, Any]) -> Any:
    """`kind` is model, metadata, readme, notebook, page, markup, xml, pdf, table, stated, settings, requirements or license."""
    kind = item["kind"]
    if kind in ("table", "page"):
        return msgspec.to_builtins(_in_pieces(item))
    if kind == "model":
        return msgspec.to_builtins(_model(item))
    with open(item["copy"], "rb") as file:
        data = file.read(_LONGEST_BYTES + 1)
    if kind == "settings" and len(data) > _LONGEST_BYTES:
        return msgspec.to_builtins(Published(instructs=True))
    if len(data) > _LONGEST_BYTES:
        return msgspec.to_builtins(Published(too_long=f"it has more than {_LONGEST_BYTES >> 20} MiB, and is not read"))
    text = decoded(data)
    if kind == "readme":
        published = _readme(item, text)
    elif kind == "markup":
        active_parts = tuple((line + 1, problem) for line, problem in active_html(text))
        page = _page(item, without_tags(text))
        rights = tuple(dict.fromkeys((*page.rights, *_rights(item, text))))  # of tables, too
        published = msgspec.structs.replace(page, active=active_parts, rights=rights)
    elif kind == "pdf":
        published = Published(active=tuple(active_pdf(data)))
    elif kind == "xml":
        published = Published(active=tuple(active_xml(text)))
    elif kind == "notebook":
        words = sources_of_cells(text, "markdown")
        published = Published(
            active=tuple(active_in_notebook(text)),
            left=tuple((0, said) for cell in words for _, said in left_in_text(cell, Path(item["root"]))),
            requirements=tuple(
                (0, problem) for cell in words for _, problem in asked_for_in(cell, item.get("packages", ()))
            ),
            rights=tuple(rights_in_notebook(text)),
        )
    elif kind == "metadata":
        published = Published(active=tuple(dict.fromkeys(_in_table(text))))
    elif kind in ("stated", "settings"):
        published = _settings(item, text)
    elif kind == "requirements":
        published = _asked_for(item, data)
    else:
        shown = active_markdown(text) if item["path"].lower().endswith(".md") else ()
        named = license_of(text)
        published = Published(
            license=named, another=other_license_of(text, named), restricted=restricted_by(text), active=tuple(shown)
        )
    return msgspec.to_builtins(published)


def _readme(item: dict[str, Any], text: str) -> Published:
    packages = item.get("packages", ())
    certain = tuple(asked_for_in(text, packages))
    perhaps = [
        *((line, problem) for line, problem, _ in asked_in_page(text, packages, plain=False)),
        *((line, f"shows code that reaches for {what}, which readers run") for line, what in reached_in_markdown(text, packages)),
    ]  # fmt: skip
    known = {problem for _, problem in certain}
    return Published(
        active=tuple(active_markdown(text)),
        left=tuple(left_in_text(text, Path(item["root"]))),
        links=tuple(links_in_markdown(text)),
        requirements=certain,
        perhaps=tuple((line, problem) for line, problem in perhaps if problem not in known),
        restricted=kept_to_some(item["path"], text),
        rights=()
        if _is_notice(item)
        else tuple(rights_in_page(own_sections(text) if item["path"] == "README.md" else text)),
    )


def _settings(item: dict[str, Any], text: str) -> Published:
    """Of those that state a licence only one gives orders: the others describe a work."""
    path, states = Path(item["path"]), item["kind"] == "stated"
    suffix, packages = path.suffix.lower(), item.get("packages", ())
    words = words_of(suffix, text)
    return Published(
        instructs=path.name.lower() == "package.json" if states else not holds_values(suffix, text, packages),
        stated=stated_in(text) if states else "",
        restricted=notice_restriction(words) if _is_notice(item) else "",
        rights=() if _is_notice(item) else tuple((0, clause, less) for _, clause, less in rights_in_page(words)),
    )


def _model(item: dict[str, Any]) -> Published:
    """The licence that an ONNX file says of itself. One that cannot be read, other checks speak of."""
    from onnx import ModelProto

    from assay.models.external_data import stored_tensors

    try:
        proto = ModelProto.FromString(Path(item["copy"]).read_bytes())
    except Exception:  # noqa: BLE001  whatever a damaged model makes a reader raise
        return Published()
    values = [prop.value for prop in proto.metadata_props if _OF_LICENSE.fullmatch(prop.key)]
    named = next(filter(None, map(license_named, values)), "")
    words = "\n".join(values)
    restricted = restricted_by(words) or less_allowed(words) or restriction_in_notes(proto)
    external = {
        entry.value for tensor in stored_tensors(proto) for entry in tensor.external_data if entry.key == "location"
    }
    return Published(stated=named, restricted=restricted, external=tuple(sorted(external)))


def _in_pieces(item: dict[str, Any]) -> Published:
    """A table or a page may be long: a part that ends with a line, then the next."""
    published, lines, begun = Published(), 0, "\ufeff"
    with open(item["copy"], "rb") as file:
        decoder = codecs.getincrementaldecoder(encoding_of(file.read(2)))("replace")
        file.seek(0)
        while data := file.read(_LONGEST_BYTES):
            whole, is_last = begun + decoder.decode(data), len(data) < _LONGEST_BYTES
            end = len(whole) if is_last else max(whole.rfind("\n"), whole.rfind("\r")) + 1
            if item["kind"] == "page" and "\0" in whole:
                return _with(published, _part(item, whole), lines)  # numbers of a model, say: nobody reads on
            if end == 0 or file.tell() > _MOST_BYTES:
                return msgspec.structs.replace(published, too_long=_TOO_LONG)
            text, begun = whole[:end].lstrip("\ufeff"), whole[end:]
            published = _with(published, _part(item, text), lines)
            lines += text.count("\n")
    return _with(published, _part(item, begun), lines) if begun else published


def _part(item: dict[str, Any], text: str) -> Published:
    if item["kind"] == "page":
        return _page(item, text)
    return Published(active=tuple(active_table(text)), rights=tuple(_rights_of_records(text)))


def _rights_of_records(text: str) -> Iterator[tuple[int, str, bool]]:
    """Of a table only what a column says that is called a licence, terms or rights."""
    titles = text.partition("\n")[0].strip()
    parts = max(",;\t", key=titles.count)
    columns = [at for at, title in enumerate(titles.split(parts)) if is_of_rights(title.strip(' "'))]
    if columns:
        csv.field_size_limit(max(len(text), csv.field_size_limit()))  # of the whole process: never lower for others
        rows = list(csv.reader(text.splitlines(), delimiter=parts))
        words = [". ".join(f"licence: {row[at]}" for at in columns if at < len(row)) for row in rows[1:]]
        yield from (
            (number + 1, clause, less) for number, clause, less in rights_in_page("\n\n".join(dict.fromkeys(words)))
        )


def _with(first: Published, other: Published, lines: int) -> Published:
    """Both, the second of them that many lines below."""

    def moved(findings: tuple[tuple[int, str], ...]) -> tuple[tuple[int, str], ...]:
        return tuple((line + lines, words) for line, words in findings)

    return Published(
        active=(*first.active, *moved(other.active)), requirements=(*first.requirements, *moved(other.requirements)),
        perhaps=(*first.perhaps, *moved(other.perhaps)), restricted=first.restricted or other.restricted,
        rights=(*first.rights, *((line + lines, words, less) for line, words, less in other.rights)),
    )  # fmt: skip


def _page(item: dict[str, Any], text: str) -> Published:
    """Text of any kind: only what is set off in a plain one is a command for sure."""
    asked = list(asked_in_page(text, item.get("packages", ()), plain=item["path"].lower().endswith(".txt")))
    return Published(
        requirements=tuple((line, problem) for line, problem, certain in asked if certain),
        perhaps=tuple((line, problem) for line, problem, certain in asked if not certain),
        restricted=kept_to_some(item["path"], text),
        rights=tuple(_rights(item, text)),
    )


def _rights(item: dict[str, Any], text: str) -> Iterator[tuple[int, str, bool]]:
    """Of a notice only which licences it names: what it keeps to some has a finding of its own. Of records what they say of rights."""
    words = words_of_records(text) if item["path"].lower().endswith((".jsonl", ".ndjson")) else text
    for line, clause, less in rights_in_page(words, code=item["path"].endswith(".py")):
        if not (less and _is_notice(item)):
            yield line, clause, less


def _is_notice(item: dict[str, Any]) -> bool:
    return NOTICES.match(Path(item["path"]).name) is not None


def _in_table(text: str) -> Iterator[tuple[int, str]]:
    """What a text of the metadata is to a page that shows it as it is; the readme has it in escapes."""
    try:
        waiting: list[Any] = [tomllib.loads(text)]
    except (ValueError, RecursionError):
        return  # the checks of metadata say where
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            runs = _RUNS.match(value)
            yield from [(0, f"an address with {runs[1].lower()}:")] if runs else ()
            yield from ((0, problem) for _, problem in active_markdown(value))
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []


def _asked_for(item: dict[str, Any], data: bytes) -> Published:
    asked = data.decode("utf-8-sig", "replace")
    name = Path(item["path"]).name
    if not INSTALLERS.match(name):
        problems = [(1, problem)] if (problem := encoding_trouble(data)) else []
        return Published(requirements=(*problems, *requirement_problems(asked, item["packages"])))
    try:
        requirements = requirements_of(name, asked)
    except (ValueError, TypeError, AttributeError, RecursionError):
        requirements = ""  # of another form
    if isinstance(requirements, str):
        return Published(perhaps=((0, UNREAD_TABLE.format(table=requirements) if requirements else NOT_READ),))
    return Published(
        requirements=tuple(
            (0, problem) for _, problem in requirement_problems("\n".join(requirements), item["packages"])
        )
    )
