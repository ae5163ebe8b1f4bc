"""Terms of use in an author's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_zoo.artifacts.published import inspect_published

_ABOVE = "# Digits\n\n## License\n\nMIT\n\n"


def _restricted(path: str, text: str, folder: Path) -> str:
    copy = folder / "copy"
    copy.write_text(text)
    kind = "readme" if path.endswith(".md") else "page"
    return str(inspect_published({"kind": kind, "path": path, "copy": str(copy), "root": str(folder)})["restricted"])


@pytest.mark.parametrize(
    ("path", "text", "words"),
    [
        ("EULA.txt", "Companies need our permission.", "our permission"),
        ("EULA.txt", "Companies talk to us first.", "Companies talk to us first."),
        ("TERMS.md", "Ask us before you use it.", "Ask us before you use it."),
        ("README.md", _ABOVE + "## Terms of use\n\nStrictly for internal use.\n", "Strictly for internal use."),
        ("README.md", _ABOVE + "## Terms\n\n### Who\n\nFor in-house use only.\n", "For in-house use only."),
        ("docs/USE.md", "# Licence\n\nCompanies ask us first.\n", "Companies ask us first."),
        ("EULA.txt", "This is under the MIT License.", ""),
        ("TERMS.md", "See the file LICENSE.", ""),
        ("terms.txt", "digit\nloss\nmean pooling\n", ""),
        ("README.md", _ABOVE + "## Terms of use\n\nAll is under Apache-2.0.\n", ""),
        ("README.md", _ABOVE + "## Use\n\nCall predict with a picture.\n", ""),
        ("README.md", _ABOVE + "## Search terms\n\nWe look for ten words.\n", ""),
        ("README.md", _ABOVE + "## License plates\n\nThe model reads plates.\n", ""),
        ("README.md", _ABOVE + "## Terms\n\n## Use\n\nCall predict with a picture.\n", ""),
    ],
)
def test_terms_that_name_no_licence(path: str, text: str, words: str, tmp_path: Path) -> None:
    assert _restricted(path, text, tmp_path) == words
