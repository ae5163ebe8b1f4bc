"""The zoo's README: a table of the accepted models between two markers, written from the manifest and by nothing else."""

from __future__ import annotations

from pathlib import Path

from assay_zoo.manifest import Manifest, Version, read_manifest, replace_file
from assay_zoo.zoo_files import INDEX, MODELS

BEGIN = "<!-- assay zoo: begin of the index, written by assay -->"
END = "<!-- assay zoo: end of the index -->"


def index_text(manifest: Manifest) -> str:
    """The markers and what lies between them: one line for each model that is served."""
    served = [
        (name, version)
        for name, entry in sorted(manifest.models.items())
        if (version := entry.version(entry.current)) is not None
    ]
    lines = [BEGIN, ""]
    if served:
        lines += ["| Model | Version | Scenario | Accuracy | License | Opset | Tags |", "|---|---|---|---|---|---|---|"]
        lines += [_line(name, version) for name, version in served]
    else:
        lines.append("No model has been accepted yet.")
    return "\n".join([*lines, "", END])


def _line(name: str, version: Version) -> str:
    accuracy = version.accuracy
    metric = accuracy.measured if accuracy.measured is not None else accuracy.claimed
    cells = (
        f"[{_cell(version.title)}]({MODELS}/{name}/{version.version}/README.md)", version.version, version.scenario,
        f"{accuracy.metric} {metric:.4g}", version.license, str(version.opset), ", ".join(version.tags),
    )  # fmt: skip
    return f"| {cells[0]} | " + " | ".join(map(_cell, cells[1:])) + " |"


def _cell(text: str) -> str:
    """Text of a third party in a cell: no mark of Markdown or HTML is taken at its word."""
    kept = "".join(f"\\{c}" if c in r"\`*_[]<>|#!" else c for c in " ".join(text.split()))
    return kept.replace("&", "&amp;")


def write_index(root: Path, manifest: Manifest) -> None:
    """Between the markers of README.md, or at its end where it has none; the rest of it is left as it is. Raises OSError."""
    path = root / INDEX
    before = path.read_text(encoding="utf-8") if path.is_file() else f"# {manifest.zoo or root.name}\n"
    after = _with_index(before, index_text(manifest))
    if after != before or not path.is_file():
        replace_file(path, after.encode())


def _with_index(text: str, index: str) -> str:
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        return f"{text.rstrip()}\n\n{index}\n"
    return f"{head}{index}{tail}"


def index_trouble(root: Path) -> str:
    """Why README.md does not say what the manifest says, "" where it does or where nothing was ever promoted."""
    manifest = read_manifest(root)
    path = root / INDEX
    if not manifest.models:
        return ""
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if index_text(manifest) in text:
        return ""
    return f"{INDEX} of the zoo does not list what its manifest says: run `assay zoo index` in it and commit the change"
