"""Every page in a real browser: no violation that axe knows, wide and narrow, light and dark, by the keyboard alone, without a script,
and nothing asked of another server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from assay.stores.sql import SqlStore
from assay.testing.builders import MACHINE, make_measurement, make_result, make_run
from assay.triage.kept_upgrades import keep_upgrade
from assay.triage.upgrade import Answers, ModelChange, Upgrade
from assay.web.address import address
from browser import browser, new_page
from dashboard_history import HOSTILE, RED, WELL, dashboard_history

__all__ = ["browser"]
pytestmark = pytest.mark.slow

SELDOM = replace(MACHINE, cpu="one that runs seldom")
PAGES = (
    "/", "/matrix", "/matrix?case=nothing-is-called-so", "/runs", "/compare", "/search?q=mismatch", "/alerts", "/causes", "/nothing",
    "/upgrades",
    address("/result", case=RED, flow="tvm"), address("/result", case=WELL, flow="tvm"),
    address("/result", case=HOSTILE, flow="tvm"),
    address("/trend", case=WELL, flow="tvm", metric="latency", beside="onnxruntime"),
    address("/trend", case=WELL, flow="tvm", metric="latency", runs=3),
    address("/trend", case=WELL, flow="tvm", metric="latency", machines=SELDOM.kind),
)  # fmt: skip
SIZES = ((1280, 900), (390, 844))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    history = dashboard_history(tmp_path_factory.mktemp("browser"))
    models = (ModelChange("ocr", Answers.WRONG, detail=HOSTILE), ModelChange("digits", Answers.NEARER, 2e-7, 1e-7))
    keep_upgrade(Path(history), Upgrade("tvm", "0.26.0", "0.27.0", models), datetime(2026, 2, 2, 10, tzinfo=UTC))
    with closing(SqlStore(str(Path(history) / "history.db"))) as store:
        store.open_run(make_run("20200101T000000-aaaaaa", machine=SELDOM))
        measure = make_result(WELL, kind="measure", flow="tvm", measurements=(make_measurement(),))
        store.record("20200101T000000-aaaaaa", [measure])
    command = [sys.executable, "-m", "assay", "serve", "--history", history, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split("/  (")[0]
        server.terminate()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core: the file that ASSAY_AXE names, or what npm gives."""
    if "ASSAY_AXE" in os.environ:
        return Path(os.environ["ASSAY_AXE"]).read_text("utf-8")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("neither ASSAY_AXE nor npm gives axe-core")
    folder = tmp_path_factory.mktemp("axe")
    subprocess.run([npm, "install", "--silent", "axe-core@4"], cwd=folder, check=True, timeout=300)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing(browser: Any, site: str, axe: str, size: tuple[int, int], scheme: str) -> None:
    # The policy of the pages would not let axe in: it is for the browser, and the test is not about it.
    page = new_page(browser, viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, bypass_csp=True)
    for path in PAGES:
        page.goto(site + path)
        if path.endswith("runs=3"):
            said = page.inner_text("main")
            assert [text in said for text in ("Earlier ones, too", "one that runs seldom")] == [True, True]
        page.evaluate(axe)
        report = page.evaluate("axe.run()")
        said = [
            f"{violation['id']}: {node['html'][:120]}"
            for violation in report["violations"]
            for node in violation["nodes"]
        ]
        assert said == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    page.close()


def test_nothing_runs_and_nothing_is_asked_of_others(browser: Any, site: str) -> None:
    page = new_page(browser)
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append("dialog"), dialog.dismiss()))
    page.on("request", lambda asked: asked.url.startswith(site + "/") or complaints.append(asked.url))
    for path in PAGES:
        if path != "/nothing":
            page.goto(site + path)
    assert complaints == []
    page.close()


def test_by_the_keyboard_from_the_first_page_to_a_result(browser: Any, site: str) -> None:
    page = new_page(browser)
    page.goto(site)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    # Its model is a link of that name, too, and leads to the matrix.
    wanted = f"document.activeElement.textContent === {RED!r} && document.activeElement.href.includes('/result?')"
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(wanted):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/result?**")
    assert RED in page.locator("h1").inner_text()
    page.close()


def test_the_theme_is_kept(browser: Any, site: str) -> None:
    page = new_page(browser, color_scheme="light")
    page.goto(site)
    page.get_by_role("button", name="Theme: auto").click()
    page.get_by_role("button", name="Theme: light").click()
    page.goto(site + "/matrix")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.close()


def test_without_a_script_all_is_there(browser: Any, site: str) -> None:
    page = new_page(browser, java_script_enabled=False)
    page.goto(site + "/matrix")
    page.locator("a.cell").first.click()
    assert page.locator("h1").inner_text()
    page.close()
