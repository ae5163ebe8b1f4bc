"""docs/backends/README.md lists every flow that assay itself offers, as it is, and every page that there is."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from assay import plugins
from assay.core.flow import Flow

DOCS = Path(__file__).parents[2] / "docs" / "backends"
GUIDES = ("README.md", "adding-your-own.md")


def row(flow: Flow) -> str:
    """One line of the table."""
    page = DOCS / f"{flow.backend}.md"
    backend = f"[{flow.backend}]({page.name})" if page.exists() else flow.backend
    where = flow.device + (f", in `{flow.environment}`" if flow.environment else "")
    return f"| `{flow.name}` | {backend} | {flow.precision} | {where} |"


def ours() -> list[Flow]:
    """Without those of other packages that are installed here, and without the backends that fail on demand."""
    own = {point.name for point in metadata.distribution("assay").entry_points if point.group == plugins.BACKENDS}
    flows = plugins.catalogue().flows.values()
    return sorted(
        (flow for flow in flows if flow.backend in own - {*plugins.FAULTY}), key=lambda flow: (flow.backend, flow.name)
    )


def test_the_table_of_flows_is_that_of_the_code() -> None:
    text = (DOCS / "README.md").read_text()
    listed = [line for line in text.splitlines() if line.startswith("| `")]
    assert listed == [row(flow) for flow in ours()], "put these lines into docs/backends/README.md:\n" + "\n".join(
        map(row, ours())
    )


def test_every_page_is_linked() -> None:
    text = (DOCS / "README.md").read_text()
    assert [
        page.name for page in sorted(DOCS.glob("*.md")) if page.name not in GUIDES and f"({page.name})" not in text
    ] == []
    assert "adding-your-own.md" in text
