"""The robot's pages as a person meets them: in a browser, over HTTP, with a queue that moves while they look."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from page_queue import DECLINED, HOSTILE, REPOSITORY, decided, filled, head
from starlette.applications import Starlette

from assay_zoo.robot.pages import page_routes
from assay_zoo.robot.queue import Queue
from browser import browser, new_page

__all__ = ["browser"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Queue, dict[str, int]]]:
    """The pages' address, with the queue behind them and the ids in it."""
    queue, ids = filled(tmp_path_factory.mktemp("site"))
    app = Starlette(routes=page_routes(queue, lambda: "Digits zoo"))
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + 300
    while not server.started:
        assert thread.is_alive()
        assert time.monotonic() < until
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}", queue, ids
    server.should_exit = True
    thread.join()
    queue.database.close()


class Watched:
    """A page, and everything about it that must not happen."""

    def __init__(self, browser: Any, site: str, address: str, **options: Any) -> None:
        self.page = new_page(browser, **({"viewport": {"width": 1400, "height": 900}} | options))
        self.complaints: list[str] = []
        self.page.on("console", lambda line: self.complaints.append(f"console: {line.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda asked: self._asked(asked, site))
        self.page.goto(site + address)

    def _asked(self, request: Any, site: str) -> None:
        if not request.url.startswith(site + "/"):
            self.complaints.append(f"request: {request.url}")

    def done(self) -> None:
        assert self.complaints == []
        self.page.close()


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("address", ["/", "/submissions/{declined}", "/submissions/{hostile}"])
def test_a_page_fits_its_screen_and_says_its_answer(browser: Any, site: Any, address: str, width: int) -> None:
    root, _, ids = site
    watched = Watched(browser, root, address.format(**ids), viewport={"width": width, "height": 900})
    page = watched.page
    assert page.evaluate("scrollTo(1e6, 0), document.documentElement.scrollWidth <= innerWidth && scrollX === 0")
    assert page.locator("h1").count() == 1
    assert page.locator("img[src='x']").count() == 0
    if "submissions" in address:
        assert page.locator("h1").inner_text() == "DECLINE"
        assert page.locator(".track li").count() == 6
    watched.done()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_from_their_ground(browser: Any, site: Any, scheme: str) -> None:
    """WCAG AA, 4.5 to 1, for every element that holds text, in both schemes; computed by the browser's own colours."""
    root, _, ids = site
    watched = Watched(browser, root, f"/submissions/{ids['declined']}", color_scheme=scheme)
    worst = watched.page.evaluate(CONTRAST)
    assert worst["elements"] > 40
    assert worst["ratio"] >= 4.5, worst
    watched.done()


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const found = rgb(getComputedStyle(at).backgroundColor);
      if (found[3] === 255) return found;
    }
    return [255, 255, 255, 255];
  };
  let worst = { ratio: 99, elements: 0 };
  for (const one of document.body.querySelectorAll("*")) {
    if (![...one.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const [front, back] = [light(rgb(getComputedStyle(one).color)), light(ground(one))];
    const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
    worst.elements += 1;
    if (ratio < worst.ratio) worst = { ...worst, ratio, text: one.textContent.trim().slice(0, 60) };
  }
  return worst;
}"""


def test_a_decision_appears_while_somebody_looks(browser: Any, site: Any) -> None:
    """The page of a queued submission, of the queue, and its counts change without a click; then the page is quiet."""
    root, queue, _ = site
    while (waiting := queue.lease("worker-0")) is not None:
        decided(queue, waiting, DECLINED)
    identity, _ = queue.enqueue(REPOSITORY, head(90, "Seen live"), "live-model")
    watched = Watched(browser, root, f"/submissions/{identity}")
    overview = Watched(browser, root, "/")
    assert watched.page.locator("h1").inner_text() == "QUEUED"
    overview.page.locator(".now", has_text="Seen live").wait_for()
    lease = queue.lease("worker-1")
    assert lease is not None
    decided(queue, lease, DECLINED)
    watched.page.locator("h1", has_text="decline").wait_for()
    overview.page.locator("table.submissions", has_text="Seen live").wait_for()
    assert watched.page.title().startswith("decline")
    assert watched.page.locator("meta[http-equiv=refresh]").count() == 0
    assert HOSTILE.split("\u202e")[0] in overview.page.locator("main").inner_text()
    watched.done()
    overview.done()
