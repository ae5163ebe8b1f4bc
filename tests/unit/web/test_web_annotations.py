"""Notes and approvals from the page: by whom, with which form, and what is written down of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from assay.commands.composition import open_to_read
from assay.core.annotation import Annotation
from assay.errors import RunNotFound, UsageError
from assay.stores.copy_history import copy_history
from assay.stores.sql import SqlStore
from assay.web.actions import AUDIT, Actions
from assay.web.address import address
from assay.web.app import make_app
from assay.web.sign_in import sign_in_of
from assay.web.site import Cache, Site
from dashboard_history import HOSTILE, RED, RUNS, WELL, dashboard_history, run_id

POINT = {"case": WELL, "flow": "tvm", "run": run_id(3)}
Ask = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(dashboard_history(tmp_path / "writable"))


@contextmanager
def asking(folder: Path, answers: Cache) -> Iterator[Ask]:
    sign_in = sign_in_of(["10.0.0.7"], ["ann"], approvers=["eve"])
    assert sign_in is not None
    with open_to_read(str(folder)) as store:
        app = make_app(Site(store, folder, answers=answers), {"testserver"}, Actions(str(folder), folder, sign_in))

        def asked(method: str, path: str, user: str = "", **more: Any) -> Any:
            client = TestClient(app, client=("10.0.0.7", 5000), raise_server_exceptions=False, follow_redirects=False)
            return client.request(method, path, headers={"X-Forwarded-User": user} if user else {}, **more)

        yield asked


@pytest.fixture
def ask(folder: Path) -> Iterator[Ask]:
    with asking(folder, Cache(0.0)) as asked:
        yield asked


def token(ask: Ask, user: str) -> str:
    match = re.search(r'name="token" value="(\w+)"', ask("GET", address("/result", **POINT), user).text)
    return match[1] if match else ""


def audit(folder: Path) -> list[tuple[str, str, str]]:
    path = folder / AUDIT
    lines = path.read_text().splitlines() if path.exists() else []
    return [(line["who"], line["action"], line["about"]) for line in map(json.loads, lines)]


def test_a_note_stands_at_its_point_of_the_trend(ask: Ask, folder: Path) -> None:
    form = {**POINT, "text": f" new compiler {HOSTILE} ", "token": token(ask, "ann")}
    answer = ask("POST", "/annotations", "ann", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, address("/result", **POINT))
    trend = ask("GET", address("/trend", case=WELL, flow="tvm")).text
    row = next(line for line in re.findall(r"<tr>.*?</tr>", trend, re.S) if f"run={run_id(3)}" in line)
    assert "new compiler &lt;script&gt;" in row
    assert trend.count("new compiler") == 1
    assert "new compiler" in ask("GET", address("/result", **POINT)).text
    assert "new compiler" not in ask("GET", address("/result", **{**POINT, "run": run_id(4)})).text
    assert audit(folder) == [("ann", "annotate", f"{run_id(3)} {WELL} tvm")]


def test_a_page_that_is_kept_is_nobodys_who_is_signed_in(folder: Path) -> None:
    page, note = address("/result", **POINT), "a new compiler"
    with asking(folder, Cache(3600.0)) as ask:
        form = {**POINT, "text": note, "token": token(ask, "ann")}
        before = ask("GET", page).text
        assert [form["token"] in before, note in before] == [False, False]
        assert ask("POST", "/annotations", "ann", data=form).status_code == 303
        assert [note in ask("GET", page, user).text for user in ("ann", "eve")] == [True, True], "at once"
        assert ask("GET", page).text == before


def test_a_note_on_a_whole_run(ask: Ask) -> None:
    form = {"run": run_id(3), "text": "bad power supply", "token": token(ask, "ann")}
    assert ask("POST", "/annotations", "ann", data=form).headers["location"] == address("/matrix", run=run_id(3))
    assert "bad power supply" in ask("GET", address("/matrix", run=run_id(3))).text
    assert "bad power supply" not in ask("GET", "/matrix").text
    assert "bad power supply" not in ask("GET", address("/result", **POINT)).text


@pytest.mark.parametrize(
    ("path", "user", "change", "code", "said"),
    [
        ("/annotations", "bob", {}, 403, "may change nothing"),
        ("/annotations", "", {}, 403, "nobody is signed in"),
        ("/annotations", "ann", {"token": "0" * 64}, 403, "not of this server"),
        ("/annotations", "ann", {"text": " "}, 400, "at most 500 characters"),
        ("/annotations", "ann", {"text": "x" * 501}, 400, "at most 500 characters"),
        ("/annotations", "ann", {"run": "20990101"}, 404, "there is no run"),
        ("/annotations", "ann", {"flow": ""}, 400, "or names a case and a flow"),
        ("/annotations", "ann", {"case": "nothing"}, 404, "has no nothing on tvm"),
        ("/approve", "ann", {}, 403, "start the server with --approver ann"),
        ("/approve", "bob", {}, 403, "may change nothing"),
        ("/approve", "eve", {"token": ""}, 403, "not of this server"),
        ("/approve", "eve", {"case": ""}, 400, "names a run, a case and a flow"),
        ("/approve", "eve", {"reason": ""}, 400, "needs a reason"),
        ("/approve", "eve", {"case": RED}, 400, "measured no engine"),
    ],
)
def test_what_is_refused_changes_nothing(
    ask: Ask, folder: Path, path: str, user: str, change: dict[str, str], code: int, said: str
) -> None:
    own = token(ask, user) if user in ("ann", "eve") else token(ask, "ann")
    form = {**POINT, "text": "an annotation", "reason": "known", "token": own, **change}
    answer = ask("POST", path, user, data=form)
    assert (answer.status_code, said in answer.text) == (code, True), answer.text
    with closing(SqlStore(str(folder / "history.db"))) as store:
        assert store.annotations() == []
    assert not (folder / "baselines").exists()


def test_the_form_of_an_approval_is_shown_to_who_may_use_it(ask: Ask) -> None:
    shown = 'action="/approve"'
    newest = address("/result", **{**POINT, "run": run_id(RUNS - 1)})
    assert [shown in ask("GET", newest, user).text for user in ("eve", "ann", "bob", "")] == [True, False, False, False]
    red = address("/result", case=RED, flow="tvm", run=run_id(RUNS - 1))
    assert shown not in ask("GET", red, "eve").text


def test_an_approver_without_a_proxy_is_refused() -> None:
    with pytest.raises(UsageError, match="--approver needs --trust-proxy"):
        sign_in_of([], [], approvers=["eve"])


def test_notes_are_copied_once(folder: Path, tmp_path: Path) -> None:
    with closing(SqlStore(str(folder / "history.db"))) as source, closing(SqlStore(str(tmp_path / "b.db"))) as target:
        annotation = Annotation("2026-11-26T10:00:00+00:00", "ann", "new compiler", **POINT)
        source.add_annotation(annotation)
        with pytest.raises(RunNotFound):
            source.add_annotation(Annotation("2026-11-26T10:00:00+00:00", "ann", "x", "2099"))
        for _ in range(2):
            copy_history(source, target, lambda *_: None)
        assert target.annotations(run_id(3), WELL, "tvm") == [annotation]
