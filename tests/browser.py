"""A real Chromium for tests of pages. They are skipped where there is none, unless it must be there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
    "--disable-dev-shm-usage",
]  # fmt: skip
PATIENCE_MS = 300_000
"""For the browser to start, and for whatever a page is to show: on a busy machine both take their time."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = next((program for name in NAMES if (program := shutil.which(name))), None)
    if path is None:
        if os.environ.get("ASSAY_REQUIRE_BROWSER") == "1":
            pytest.fail(f"ASSAY_REQUIRE_BROWSER is 1, and none of {', '.join(NAMES)} is installed")
        pytest.skip(f"none of {', '.join(NAMES)} is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=PATIENCE_MS)
        yield opened
        opened.close()


def new_page(browser: Any, **options: Any) -> Any:
    """A page of its own context."""
    page = browser.new_page(**options)
    page.set_default_timeout(PATIENCE_MS)
    return page
