"""The table of pages: where each is, what it is asked, and what it answers programs with. The routes, the menu and the OpenAPI description
are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from assay.core.trend import Trend
from assay.ports import RunSummary
from assay.ports.browsing import MatrixPage
from assay.web.alerts_page import Alerts, alerts
from assay.web.answer import MOST_PAGES, Answer
from assay.web.causes_page import CauseLife, Causes, cause, causes
from assay.web.compare import Compared, compare
from assay.web.machines import OnMachine
from assay.web.matrix import matrix
from assay.web.now import Now, now
from assay.web.result_page import result
from assay.web.runs import runs
from assay.web.search_box import Found, search
from assay.web.site import Site
from assay.web.trend import trend
from assay.web.upgrades_page import Upgrades, upgrades

View = Callable[[Site, Mapping[str, str]], Answer]


class Trends(msgspec.Struct, frozen=True):
    """One for each flow; `machines` are those that the first flow ran on, where it was more than one."""

    trends: tuple[Trend, ...]
    machines: tuple[OnMachine, ...] = ()


class Runs(msgspec.Struct, frozen=True):
    """Newest first."""

    runs: tuple[RunSummary, ...]


class Parameter(msgspec.Struct, frozen=True):
    """One word of the query. `number`: from 1 on."""

    name: str
    meaning: str
    required: bool = False
    number: bool = False


class Page(msgspec.Struct, frozen=True):
    """`answers` is the type of its JSON. `menu`: its name there, "" where it is reached by links alone."""

    path: str
    view: View
    meaning: str
    answers: Any = dict[str, Any]
    parameters: tuple[Parameter, ...] = ()
    menu: str = ""

    @property
    def api(self) -> str:
        """Where programs ask: /api/v1/now for the first page."""
        return f"/api/v1{'/now' if self.path == '/' else self.path}"


_CASE = Parameter("case", "Name of the case.", required=True)
_FLOW = Parameter("flow", "Name of the flow.", required=True)
_PAGE = Parameter("page", f"Page, from 1 to {MOST_PAGES:,}.", number=True)
_NEWEST = "; or the newest complete one of branch:NAME, machine:KIND, commit:DIGEST or version:PACKAGE=VERSION."
_RUN = Parameter("run", "Id of a run, the beginning of one, or last.")

PAGES = (
    Page("/", now, "How everything stands now: what blocks, what changed, what is flaky.", Now, menu="Now"),
    Page(
        "/matrix",
        matrix,
        "Case by flow, of the newest result of everything or of one run.",
        MatrixPage,
        (
            _RUN,
            Parameter("case", "Part of the case's name."),
            Parameter("flow", "Part of the flow's name."),
            Parameter("outcome", "Outcome of the job."),
            Parameter("word", "Verdict on the job, or red: what blocks a release."),
            Parameter("exact", "1: case and flow are whole names."),
            _PAGE,
            Parameter("flows", "Page of the flows.", number=True),
        ),
        menu="Matrix",
    ),
    Page(
        "/runs", runs, "The runs, newest first.", Runs, (Parameter("branch", "Name of the branch."), _PAGE), menu="Runs"
    ),
    Page(
        "/trend",
        trend,
        "A metric of one cell through the runs: values, alarms, changes of level.",
        Trends,
        (
            _CASE,
            _FLOW,
            Parameter("metric", "Name of a metric, or latency, cpu, throughput, memory, size, build, load, error."),
            Parameter("machine", "Kind of machine [that of the newest run]."),
            Parameter("beside", "Other flows, separated by commas."),
            Parameter("machines", "Other kinds of machine in the same plot, separated by semicolons."),
            Parameter("since", "First day: 2026-11-01."),
            Parameter("until", "Last day."),
            Parameter("runs", "So many of the newest runs [1000]."),
        ),
    ),
    Page(
        "/compare",
        compare,
        "Two runs: what changed from one to the other.",
        Compared,
        (
            Parameter("run", f"Id of a run, the beginning of one, or last{_NEWEST}"),
            Parameter("to", f"The earlier run, or previous: the last one with the same cases and flows{_NEWEST}"),
            _PAGE,
        ),
        menu="Compare",
    ),
    Page(
        "/search",
        search,
        "Runs by commit, model and code; cases by name; jobs that are not ok by what they said.",
        Found,
        (Parameter("q", "What to look for."),),
        menu="Search",
    ),
    Page(
        "/causes",
        causes,
        "Causes that triage and fuzzing found: first seen, last seen, fixed in.",
        Causes,
        (
            Parameter("q", "Words of the title, the case, the flow, or an operator."),
            Parameter("backend", "Name of the backend."),
            Parameter("state", "open, known or fixed."),
            Parameter("found_by", "triage or fuzz."),
            _PAGE,
        ),
        menu="Causes",
    ),
    Page("/cause", cause, "One cause.", CauseLife, (Parameter("id", "Its id.", required=True),)),
    Page(
        "/upgrades",
        upgrades,
        "What assay upgrade said of releases of a backend.",
        Upgrades,
        (Parameter("id", "Of one of them."), _PAGE),
        menu="Upgrades",
    ),
    Page("/alerts", alerts, "Causes that were reported, and mutes.", Alerts, menu="Alerts"),
    Page("/result", result, "One cell of one run, judged.", parameters=(_CASE, _FLOW, _RUN)),
)
