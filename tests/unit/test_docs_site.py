"""What the documentation site generates from the code: every command with every option, and text that means itself in Markdown."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

from assay.cli.main import app

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def cli_reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cli_reference", DOCS / "_extensions" / "cli_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_command_has_a_section_with_all_its_options(cli_reference: ModuleType) -> None:
    sections = dict(re.findall(r"^## (assay .*?)\n(.*?)(?=^## |\Z)", cli_reference.cli_reference(), re.S | re.M))
    root = get_command(app)
    assert "assay check" in sections
    assert "assay baseline set" in sections
    for name, text in sections.items():
        command = root
        for part in name.split()[1:]:
            command = command.commands[part]
        options = [param for param in command.params if param.param_type_name == "option" and not param.hidden]
        missing = [option.opts[0] for option in options if not re.search(rf"^\| `{option.opts[0]}[ `]", text, re.M)]
        assert missing == [], name
    assert len(sections) == len(_leaves(root))


def _leaves(command: object) -> list[object]:
    children = getattr(command, "commands", None)
    return [command] if children is None else [leaf for child in children.values() for leaf in _leaves(child)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("test_data_set_N [4].", r"test\_data\_set\_N \[4\]."),
        ("raise --timeout, if *", r"raise `--timeout`, if \*"),
        ("see `assay baseline set`", "see `assay baseline set`"),
        ("CASE|FLOW, `A|B`", r"CASE\|FLOW, `A\|B`"),
        ("a lone ` in it", r"a lone \` in it"),
    ],
)
def test_text_of_the_terminal_means_itself_in_a_table(cli_reference: ModuleType, text: str, expected: str) -> None:
    assert cli_reference.plain(text) == expected


def test_the_tree_of_errors_names_every_error() -> None:
    from assay import errors

    named = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert named <= set(re.findall(r"\w+", errors.__doc__ or ""))


@pytest.mark.parametrize(
    "page", sorted(DOCS.parent.glob("*.md")) + sorted(DOCS.parent.glob("examples/*/README.md")), ids=str
)
def test_links_of_pages_outside_of_the_site_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


PACKAGES = [DOCS.parent / "packages/assay/src/assay", DOCS.parent / "packages/assay-zoo/src/assay_zoo"]
ROOMS = {path.name for package in PACKAGES for path in package.iterdir() if path.is_dir()}
ROOTS = [DOCS.parent, *PACKAGES, DOCS.parent / "examples/my-backend"]


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_files_of_the_code_that_a_page_names_exist(page: Path) -> None:
    """Renaming a module leaves its name in a page, where no link checker looks."""
    named = re.findall(r"`((?:[a-z_0-9]+/)+(?:[a-z_0-9]+\.py)?)`", page.read_text(encoding="utf-8"))
    ours = [name for name in named if name.endswith(".py") or name.partition("/")[0] in ROOMS - {"zoo", "models"}]
    assert [name for name in ours if not any((root / name).exists() for root in ROOTS)] == []
