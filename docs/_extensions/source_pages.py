"""A link to a file of the repository opens a page that shows the file, where Sphinx alone would offer a download."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

ROOT = Path(__file__).parents[2]
LANGUAGES = {".py": "python", ".toml": "toml", ".c": "c", ".json": "json", ".yml": "yaml", ".md": "markdown"}


def _shown(env: BuildEnvironment) -> dict[str, set[str]]:
    """By the page that links to them, files below the root of the repository."""
    if not hasattr(env, "assay_shown_files"):
        env.assay_shown_files = {}  # type: ignore[attr-defined]
    return env.assay_shown_files  # type: ignore[attr-defined,no-any-return]


def link(app: Sphinx, doctree: nodes.document) -> None:
    """Before Sphinx collects downloads. A file outside of the repository fails the build."""
    docname = app.env.docname
    for node in list(doctree.findall(addnodes.download_reference)):
        if "://" in node["reftarget"]:
            continue
        path = Path(app.env.relfn2path(node["reftarget"], docname)[1]).resolve()
        if not path.is_relative_to(ROOT):
            raise ExtensionError(f"{docname} links to {node['reftarget']}, which is outside of the repository")
        name = path.relative_to(ROOT).as_posix()
        _shown(app.env).setdefault(docname, set()).add(name)
        uri = app.builder.get_relative_uri(docname, f"source/{name}")
        node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """One page for each file that is linked to."""
    highlighter = app.builder.highlighter  # type: ignore[attr-defined]
    for name in sorted(set().union(*_shown(app.env).values())):
        text = (ROOT / name).read_text(encoding="utf-8")
        language = LANGUAGES.get(Path(name).suffix, "text")
        code = highlighter.highlight_block(text, language, linenos=False)
        yield f"source/{name}", {"title": name, "body": f"<h1>{escape(name)}</h1>\n{code}"}, "page.html"


def purge(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _shown(env).pop(docname, None)


def merge(_app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    """What a process that read a part of the pages found."""
    _shown(env).update({name: files for name, files in _shown(other).items() if name in docnames})


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-read", link, priority=100)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("html-collect-pages", pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
