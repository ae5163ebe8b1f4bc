"""The commands of `assay`: the name of each, where it is, and what it does. A module is imported when its command is called."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """One row. `target` is a function, or a `typer.Typer` with commands of its own: `module:name`. `help` is what `--help` says."""

    name: str
    target: str
    help: str


COMMANDS = (
    Command(
        "check",
        "assay.cli.check:check",
        "Build, verify and measure models on every flow; judge; exit 0 only if all is well.",
    ),
    Command(
        "compare",
        "assay.cli.compare:compare",
        "Is the new engine slower? Fresh pairs, interleaved, until the result is significant; exit 0 same or faster, 1 slower, "
        "3 undecided.",
    ),
    Command(
        "load",
        "assay.cli.load:load",
        "A service under load: latency from when a request was due, throughput, goodput; or which of two services is slower.",
    ),
    Command(
        "run",
        "assay.cli.run:run",
        "Run suites over flows: every case a black box, isolated, compared, recorded, judged.",
    ),
    Command(
        "merge",
        "assay.cli.run:merge",
        "Put the shards of one run together: recorded, judged and reported as one.",
    ),
    Command(
        "mutate",
        "assay.cli.mutate:mutate",
        "Inject known miscompilations into a model or a suite, one at a time, and count how many its inputs reveal.",
    ),
    Command(
        "triage",
        "assay.cli.triage:triage",
        "Find the cause of a red verdict: the node or combination, the smallest model, the pass, and a script that shows it.",
    ),
    Command(
        "fuzz",
        "assay.cli.fuzz:app",
        "Find wrong answers and crashes in a backend with generated models, until a time is over; one bucket for each cause.",
    ),
    Command(
        "upgrade",
        "assay.cli.upgrade:upgrade",
        "May another release of a backend be deployed? Answers, speed and memory of both, and the causes of what is wrong; exit 0: go.",
    ),
    Command(
        "demo",
        "assay.cli.setup:demo",
        "Check the three digit models of the repository on two flows, with measuring, and write the HTML report.",
    ),
    Command(
        "init",
        "assay.cli.setup:init",
        "Write a commented assay.toml with the models below its folder, and the flows that ran one sample of them.",
    ),
    Command(
        "flows",
        "assay.cli.setup:flows",
        "The flows of this machine: ok where a tiny model passes in a worker (tried once for each version), else why not.",
    ),
    Command(
        "doctor",
        "assay.cli.doctor:doctor",
        "Explain one flow: what is installed, what is missing and the command, and a tiny model tried in a worker.\n\n"
        "Exit 0 if the tiny model passed; without FLOW, if the machine and the history can be used.",
    ),
    Command(
        "runs",
        "assay.cli.history:runs",
        "List the runs in the history, newest first.",
    ),
    Command(
        "history",
        "assay.cli.history_copy:app",
        "Copy one history into another (SQLite, PostgreSQL), remove old samples and files, say who may read and write it.",
    ),
    Command(
        "store",
        "assay.cli.store:app",
        "Files that machines share in a folder or an object store: send what is left, remove what nothing refers to.",
    ),
    Command(
        "report",
        "assay.cli.history:report",
        "Render a recorded run again, in any format.",
    ),
    Command(
        "rejudge",
        "assay.cli.history:rejudge",
        "Judge recorded results again: nothing runs, the exit code is the new verdict.",
    ),
    Command(
        "diff",
        "assay.cli.history:diff",
        "Show what changed from one run to another.",
    ),
    Command(
        "resume",
        "assay.cli.history:resume",
        "Continue a run that was killed or interrupted: nothing runs twice.",
    ),
    Command(
        "trend",
        "assay.cli.trend:trend",
        "Show a metric over the runs: alarms and level changes, with the commits between; exit 1 if the newest run is an alarm.",
    ),
    Command(
        "serve",
        "assay.cli.serve:serve",
        "Show the history in a browser: what blocks now, the matrix, results, trends, two runs side by side.",
    ),
    Command(
        "audit",
        "assay.cli.baseline:audit",
        "Who approved which engine of a model, when, why, and on which evidence.",
    ),
    Command(
        "baseline",
        "assay.cli.baseline:app",
        "Approved engines that later engines are compared with: set, list, approve, rollback, remove.",
    ),
    Command(
        "alert",
        "assay.cli.alert:app",
        "Manage alerts: list, mute, show (a dry run), send what waits, test the targets.",
    ),
    Command(
        "suite",
        "assay.cli.suite:app",
        "Suites: what there is to run.",
    ),
    Command(
        "cache",
        "assay.cli.cache:app",
        "Lowered artifacts that later runs load instead of lowering again.",
    ),
    Command(
        "expect",
        "assay.cli.expect:app",
        "Known outcomes of flows: expectations/FLOW.toml.",
    ),
    Command(
        "golden",
        "assay.cli.golden:app",
        "Stored reference outputs: record, verify, diff, update, refresh.",
    ),
    Command(
        "env",
        "assay.cli.env:app",
        "Interpreters of their own for flows (FLOW@NAME): list, build, lock, remove.",
    ),
)
