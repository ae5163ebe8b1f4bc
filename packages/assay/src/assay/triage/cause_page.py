"""The page of a cause as Markdown, HTML and JSON."""

from __future__ import annotations

import html
from pathlib import Path

import msgspec

from assay.triage.cause import Cause, to_json
from assay.triage.since_text import since
from assay.triage.triage_text import brought, doubts, known, size, title_of, where, workaround


def write_pages(cause: Cause) -> list[Path]:
    """`cause.md`, `cause.html` and `cause.json` in the folder of the cause."""
    folder = Path(cause.folder)
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"cause.md": _markdown(cause), "cause.html": _html(cause)}
    for name, text in pages.items():
        (folder / name).write_text(text)
    (folder / "cause.json").write_bytes(msgspec.json.format(to_json(cause), indent=2))
    return [folder / name for name in (*pages, "cause.json")]


def _rows(cause: Cause) -> list[tuple[str, str]]:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(cause.versions.items()))
    rows = [
        ("model", cause.model),
        ("flow", cause.flow),
        ("where", where(cause)),
        ("smallest model", _smallest(cause)),
        ("nodes", ", ".join(cause.nodes)),
        ("right when one of these is an output", ", ".join(cause.healing_taps)),
        ("brought by", brought(cause)),
        ("workaround", workaround(cause) or "none known"),
        ("since", since(cause.since)),
        ("known", known(cause)),
        ("lowest level that fails", _options(cause)),
        ("versions", versions),
        ("machine", cause.machine),
        ("script", _script(cause)),
        ("took", f"{cause.seconds:.1f} s, {cause.asked} probes"),
    ]
    return [(name, text) for name, text in rows if text]


def _options(cause: Cause) -> str:
    return ", ".join(f"{name}={value}" for name, value in cause.options.items())


def _smallest(cause: Cause) -> str:
    """With its file, where there was time to write one."""
    if not cause.nodes or cause.slower:
        return "none"
    file = Path("smallest", "model.onnx")
    where_ = f"{file}: " if (Path(cause.folder) / file).is_file() else ""
    return f"{where_}{len(cause.nodes)} of {cause.nodes_of_model} nodes, {size(cause)}"


def _script(cause: Cause) -> str:
    """And how it is used."""
    if not cause.script:
        return ""
    name = Path(cause.script).name
    cured = f"; python {name} cured ends with 0, with the workaround" if cause.cures else ""
    return f"python {name} ends with exit code 1 where the defect is there{cured}"


def _markdown(cause: Cause) -> str:
    table = "\n".join(f"- **{name}**: {text}" for name, text in _rows(cause))
    open_ = "".join(f"- {text}\n" for text in doubts(cause))
    sentence = f"\n## Not established\n\n{open_}" if open_ else ""
    return f"# {title_of(cause)}\n\n{table}\n{sentence}{_code(cause)}"


def _code(cause: Cause) -> str:
    if not cause.script:
        return ""
    printed = f"\n## What the script prints\n\n```\n{cause.printed}```\n" if cause.printed else ""
    return f"{printed}\n## Script\n\n```python\n{Path(cause.script).read_text()}```\n"


def _html(cause: Cause) -> str:
    rows = "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in _rows(cause))
    sentence = "".join(f"<li>{html.escape(text)}</li>" for text in doubts(cause))
    open_ = f"<h2>Not established</h2><ul>{sentence}</ul>" if sentence else ""
    printed = f"<h2>What the script prints</h2><pre>{html.escape(cause.printed)}</pre>" if cause.printed else ""
    script = f"<h2>Script</h2><pre>{html.escape(Path(cause.script).read_text())}</pre>" if cause.script else ""
    title = html.escape(title_of(cause))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<style>:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "h1{font-size:clamp(1.3rem,4vw,2rem)}table{border-collapse:collapse}td{vertical-align:top;padding:.2rem 0}"
        "th{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0;width:13rem}"
        "td,h1{overflow-wrap:anywhere}@media(max-width:40rem){th,td{display:block;padding:0}td{margin-bottom:.5rem}}"
        "pre{overflow:auto;padding:1rem;background:#8881}</style>"
        f"<h1>{title}</h1><table>{rows}</table>{open_}{printed}{script}</html>\n"
    )
