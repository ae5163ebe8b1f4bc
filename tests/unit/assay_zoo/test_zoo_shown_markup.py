"""What a notebook gives the browser of whoever runs it."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.code_scan import reaches

_SHOWING = "from IPython.display import HTML, SVG, display, publish_display_data\n"


@pytest.mark.parametrize(
    "code",
    [
        "HTML('<script>x()</script>')",
        "HTML('<scr' + 'ipt>x()</script>')",
        "SVG('<svg onload=\"x()\"></svg>')",
        "HTML(open('a.txt').read())",
        "a = '<img src=x onerror=x()>'\nlist(map(HTML, [a]))",
        "publish_display_data({'application/javascript': 'x()'})",
        "publish_display_data(forms)",
        "display({'text/html': '<script>x()</script>'}, raw=True)",
        "class A:\n    def _repr_html_(self): return '<script>x()</script>'\ndisplay(A())",
        "class A:\n    def _repr_javascript_(self): return 'x()'",
    ],
)
def test_markup_that_runs_something_asks(code: str) -> None:
    reached = reaches(f"{_SHOWING}{code}", ("IPython",))
    assert any("the browser of who runs it" in each.what for each in reached)


@pytest.mark.parametrize(
    "code",
    [
        "display(HTML('<b>1</b>'))",
        "rows = ''.join(f'<tr><td>{i}</td></tr>' for i in range(3))\nHTML(f'<table>{rows}</table>')",
        "import pandas as pd\nHTML(pd.DataFrame().to_html())",
        "SVG(filename='a.svg')",
        "display({'text/plain': '1', 'text/html': '<b>1</b>'}, raw=True)",
        "class A:\n    def _repr_html_(self): return f'<b>{self.x}</b>'\ndisplay(A())",
    ],
)
def test_markup_that_only_shows_something_does_not(code: str) -> None:
    reached = reaches(f"{_SHOWING}{code}", ("IPython", "pandas"))
    assert not any("the browser of who runs it" in each.what for each in reached)
