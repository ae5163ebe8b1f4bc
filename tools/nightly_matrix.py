"""The nightly matrix, made from the catalogue of flows: which suites on which flows, on which runner, in how many shards.

python tools/nightly_matrix.py                     # the cells as JSON, for a workflow of GitHub: {"include": [...]}
python tools/nightly_matrix.py --whole             # the same without shards: what is put together and judged
python tools/nightly_matrix.py --commands          # one line a cell: what it runs
python tools/nightly_matrix.py --left-out          # the flows without a cell, each with its reason
python tools/nightly_matrix.py --gitlab            # a child pipeline of GitLab
python tools/nightly_matrix.py --took RUN.assay... # write down what saved runs took: shards are made by it
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import shlex
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from assay import plugins
from assay.core.flow import Flow, device_of
from assay.pipeline.merge import saved_run, without_shard
from assay.ports import platforms_of

ROOT = Path(__file__).parents[1]
TOOK = ROOT / ".github" / "nightly-seconds.csv"

SHARD_S = 20 * 60.0
"""Of a cell on the machine that was timed. A cell may take 60 minutes; a public runner may be half as fast, and has more to do first."""
UNKNOWN_S = SHARD_S
"""Of a cell of which nothing is known at all."""
MOST_CELLS = 256
"""The limit of GitHub for one matrix."""

SECONDS = "seconds"
"""The job of GitLab that asks what cases took."""
RUNNERS = {"linux": "ubuntu-24.04", "darwin": "macos-15"}
"""The first that a flow runs on is taken."""
DEVICES = {"cpu": "", "vulkan": "libvulkan1 mesa-vulkan-drivers"}
"""What a public runner has, and the packages that bring it: Mesa's lavapipe is Vulkan on a CPU."""
FILTERS = {"operators": "*-float32-smoke-*", "models": "*-static"}
"""Suites that run on every flow, and the part of each night."""
ADDRESS = "url"
LOGPROBS = "logprobs"
"""The option of backends that ask a service."""
ORACLE = "reference-f64"
"""It would be compared with itself."""
QUANTIZABLE = " ".join(
    f"{name}-float32-smoke*"
    for name in (
        "conv1d", "conv2d", "conv_transpose2d", "linear", "matmul", "mm", "bmm", "addmm", "add", "mul", "avg_pool2d", "max_pool2d",
        "adaptive_avg_pool2d", "embedding", "softmax", "sigmoid", "lstm", "layer_norm",
    )
)  # fmt: skip
"""Of `operators`, on flows that quantize: the others have nothing to quantize."""


@dataclass(frozen=True)
class Cell:
    """One job: a suite, or a share of it, on a flow. `cases` are globs with spaces between."""

    suite: str
    flow: str
    cases: str
    runner: str
    environment: str = ""
    packages: str = ""
    shard: int = 1
    shards: int = 1

    @property
    def name(self) -> str:
        """What a list of jobs shows."""
        return f"{self.suite} on {self.flow}" + (f", {self.shard} of {self.shards}" if self.shards > 1 else "")

    @property
    def command(self) -> str:
        """What it runs. The file is named by the shard, so that all of a suite lie in one folder."""
        chosen = [word for glob in self.cases.split() for word in ("--filter", glob)]
        share = ["--shard", f"{self.shard}/{self.shards}"] if self.shards > 1 else []
        words = ["assay", "run", self.suite, "--flow", self.flow, *chosen, *share, "--timeout", "300"]
        return shlex.join([*words, "--save", f"shard-{self.shard}.assay"])

    def asdict(self) -> dict[str, str | int]:
        return {
            "name": self.name, "suite": self.suite, "flow": self.flow, "cases": self.cases, "runner": self.runner,
            "environment": self.environment, "packages": self.packages, "shard": self.shard, "shards": self.shards,
        }  # fmt: skip


def left_out(flow: Flow) -> str:
    """Why no public runner runs it; "" where one does."""
    if flow.name == ORACLE:
        return "it is the oracle: it would be compared with itself"
    backend = plugins.catalogue().backends[flow.backend]
    if any(option.name == ADDRESS for option in backend.options):
        return "it asks a service, and none is started here"
    if any(option.name == LOGPROBS for option in backend.options):
        return "it continues prompts, and no suite has any"
    device, offered = device_of(flow), platforms_of(backend, flow)
    if not offered:
        return "its packages lower for it and have no runtime that runs it"
    if not set(offered) & set(RUNNERS):
        return f"it runs on {', '.join(offered)} alone"
    return "" if device in DEVICES else f"no public runner has a device of the kind {device}"


def offered_flows() -> list[Flow]:
    """All that a user may name, in the order of the catalogue."""
    return [flow for flow in plugins.catalogue().flows.values() if flow.backend not in plugins.FAULTY]


def whole_cells(took: dict[tuple[str, str], float]) -> list[Cell]:
    """Without shards. Every flow runs operators and models; another suite is run where a run of it was written down."""
    cells = []
    for flow in offered_flows():
        if left_out(flow):
            continue
        more = [suite for suite, name in took if name == flow.name and suite not in FILTERS]
        for suite in [*FILTERS, *sorted(more)]:
            cells.append(_whole(suite, flow))
    return cells


def _whole(suite: str, flow: Flow) -> Cell:
    offered = platforms_of(plugins.catalogue().backends[flow.backend], flow)
    runner = next(RUNNERS[platform] for platform in RUNNERS if platform in offered)
    quantizes = suite == "operators" and flow.precision == "int8" and bool(flow.transforms)
    cases = QUANTIZABLE if quantizes else FILTERS.get(suite, "*")
    return Cell(suite, flow.name, cases, runner, flow.environment, DEVICES[device_of(flow)])


def sharded(cells: Sequence[Cell], took: dict[tuple[str, str], float]) -> list[Cell]:
    """Each in as many shards as its seconds need. A cell that was never timed is taken for twice the middle of its suite."""
    made: list[Cell] = []
    for cell in cells:
        known = [seconds for (suite, _), seconds in took.items() if suite == cell.suite]
        guess = 2 * statistics.median(known) if known else UNKNOWN_S
        shards = max(1, math.ceil(took.get((cell.suite, cell.flow), guess) / SHARD_S))
        for shard in range(1, shards + 1):
            made.append(Cell(**{**vars(cell), "shard": shard, "shards": shards}))
    return made


def read_took(path: Path = TOOK) -> dict[tuple[str, str], float]:
    """Seconds of a whole suite on a flow. Raises SystemExit, naming the line."""
    if not path.exists():
        return {}
    seconds: dict[tuple[str, str], float] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            try:
                seconds[row["suite"], row["flow"]] = float(row["seconds"])
            except (KeyError, TypeError, ValueError):
                sys.exit(f"{path}: line {number} has no suite, flow and seconds; write it again with --took")
    return seconds


def write_took(saved: Sequence[Path], path: Path = TOOK) -> None:
    """Add what these runs took; a share of a suite stands for its part of the whole."""
    took = read_took(path)
    for run, results, parts in ((*saved_run(file), _parts(file)) for file in saved):
        sums: dict[tuple[str, str], float] = {}
        flows = {job.key: (job.case.name.partition("/")[0], job.subject) for job in run.jobs}
        for result in results:
            if result.job_key in flows:
                key = flows[result.job_key]
                sums[key] = sums.get(key, 0.0) + result.seconds
        took.update({key: round(seconds * parts, 1) for key, seconds in sums.items()})
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["suite", "flow", "seconds"])
        writer.writerows([*key, seconds] for key, seconds in sorted(took.items()))


def _parts(file: Path) -> int:
    return without_shard(saved_run(file)[0].command)[1][1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--whole", "--commands", "--left-out", "--gitlab"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--took", nargs="+", type=Path, metavar="RUN")
    chosen = parser.parse_args(arguments)
    if chosen.took:
        write_took(chosen.took)
        return
    took = read_took()
    whole = whole_cells(took)
    cells = whole if chosen.whole else sharded(whole, took)
    if len(cells) > MOST_CELLS:
        sys.exit(
            f"{len(cells)} cells are more than one matrix takes ({MOST_CELLS}); raise SHARD_S or leave a suite out"
        )
    if chosen.left_out:
        lines = [f"{flow.name}: {reason}" for flow in offered_flows() if (reason := left_out(flow))]
    elif chosen.commands:
        lines = [cell.command for cell in cells]
    elif chosen.gitlab:
        lines = list(gitlab(cells, whole))
    else:
        lines = [json.dumps({"include": [cell.asdict() for cell in cells]})]
    print("\n".join(lines))


def gitlab(cells: Sequence[Cell], whole: Sequence[Cell]) -> Iterator[str]:
    """A child pipeline as JSON, which is YAML: a job for each shard, and one for each suite on a flow that puts its shards together.
    Cells of macOS are left out: which runners a GitLab has for it is known to nobody else. What each case took in an earlier night is
    asked for once, in a job before all shards: they must share out the cases by the same durations."""
    linux = RUNNERS["linux"]
    shared_out = {(cell.suite, cell.flow) for cell in cells if cell.shards > 1 and cell.runner == linux}
    shared = {"image": "python:3.12-bookworm", "before_script": ["make .venv/.test", 'PATH="$PWD/.venv/bin:$PATH"']}
    jobs: dict[str, object] = {"stages": ["before", "run", "verdict"], "default": shared}
    if shared_out:
        jobs[SECONDS] = _seconds_job([cell for cell in whole if (cell.suite, cell.flow) in shared_out])
    for cell in (any_cell for any_cell in cells if any_cell.runner == linux):
        needs = [f"apt-get update && apt-get install --yes {cell.packages}"] if cell.packages else []
        needs += [f"assay env build {cell.environment}"] if cell.environment else []
        by_seconds = (cell.suite, cell.flow) in shared_out
        durations = f' $(test -f {(file := _seconds_file(cell))} && echo "--durations {file}")' if by_seconds else ""
        judged_later = f"{cell.command}{durations} || case $? in 1|3|5) ;; *) exit 4 ;; esac"
        kept = {"when": "always", "expire_in": "30 days", "paths": [f"shard-{cell.shard}.assay"]}
        jobs[f"run {cell.name}"] = {
            "stage": "run",
            "needs": [SECONDS] if by_seconds else [],
            "script": [*needs, judged_later],
            "timeout": "60m",
            "artifacts": kept,
        }
    for cell in (any_cell for any_cell in whole if any_cell.runner == linux):
        shards = [
            f"run {any_cell.name}" for any_cell in cells if (any_cell.suite, any_cell.flow) == (cell.suite, cell.flow)
        ]
        reports = "--report suite-markdown=summary.md --report suite-csv=results.csv --report junit=junit.xml --report matrix=matrix.html"
        jobs[cell.name] = {
            "stage": "verdict",
            "needs": shards,
            "script": [f"assay merge shard-*.assay {reports} --durations durations.json"],
            "artifacts": {
                "when": "always",
                "expire_in": "30 days",
                "paths": ["summary.md", "results.csv", "matrix.html", "durations.json"],
                "reports": {"junit": "junit.xml"},
            },
        }
    yield json.dumps(jobs, indent=1)


def _seconds_file(cell: Cell) -> str:
    return f"seconds/{cell.suite}.{cell.flow}.json"


def _seconds_job(cells: Sequence[Cell]) -> dict[str, object]:
    """From the jobs of the last pipeline of the branch that was green; what is not there leaves shares with equally many cases."""
    at = '"$CI_API_V4_URL/projects/$CI_PROJECT_ID/jobs/artifacts/$CI_COMMIT_REF_NAME/raw/durations.json?job={}"'
    ask = 'curl --silent --fail --location --max-time 60 --header "JOB-TOKEN: $CI_JOB_TOKEN" --output {} {} || rm -f {}'
    asked = [
        ask.format(shlex.quote(file), at.format(quote(cell.name, safe="")), shlex.quote(file))
        for cell in cells
        for file in [_seconds_file(cell)]
    ]
    kept = {"expire_in": "30 days", "paths": ["seconds"]}
    return {"stage": "before", "before_script": [], "script": ["mkdir -p seconds", *asked], "artifacts": kept}


if __name__ == "__main__":
    main()
