"""docs/features.md, row by row: each command is run in a folder of its own making, and has to end and to say as it should.

python benchmarks/features.py FOLDER                  # all rows, in FOLDER, which is made: a line of a table for each
python benchmarks/features.py FOLDER --rows 1-13,46   # some of them

The output of each row is kept in FOLDER/logs. Suites are run in part (`more`). A row may take 15 minutes of a machine of its own: where
other work has the cores, too, the clock counts as much less. No process of a row outlives it. Exit code 1 where a row is not as it
should be.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from assay.launch import process_tree

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "features.md"
DIGITS = ROOT / "examples" / "digits"
ZOO_EXAMPLE = ROOT / "examples" / "zoo"
SUBMISSION = ZOO_EXAMPLE / "models" / "digit-classifier" / "1.0"
NAMES = {
    "MODEL": "classifier.onnx",
    "GOLDEN": "golden",
    "NAME": "digit-classifier",
    "WHO": "ann@example.org",
    "WHY": "a-reason",
    "FOLDER": "tuned",
    "tools/": f"{ROOT}/tools/",
}
"""What stands in the page for a user's own names."""
GOLDEN = '[[model]]\npath = "classifier.onnx"\ngolden = "golden"\n'
BLOCKED = """\
[[model]]
path = "classifier.onnx"
golden = "golden"
golden-of-another-model = true
[flows]
use = ["onnxruntime"]
[alerts]
[[alerts.target]]
name = "team"
url = "mailto://user:secret@mail.example.org?to=team@example.org"
"""
SET = "assay baseline set classifier.onnx --flow onnxruntime --measure-seconds 0.2 --reason"
SMOKE = "--filter 'a*-float32-smoke-*'"
KNOWN = "assay run regressions --flow onnxruntime --filter onnxruntime-clip-of-int64"
"""A known defect of ONNX Runtime, red without the expectations."""
NEXT_VERSION = (
    "cp -r models/digit-classifier/1.0/. submissions/digit-classifier && "
    'sed -i \'s/^version = "1.0"/version = "1.1"/\' submissions/digit-classifier/metadata.toml && '
    "assay zoo check submissions/digit-classifier"
)
"""The example serves the first. One check takes 33 s of a processor, at the low priority of the sandbox: beside other work that is long."""
LIMIT_S = 900.0
"""Of a row that has the machine to itself."""
LONGEST = 10.0
"""Times the limit by the clock, whatever else runs."""
LOOK_S = 1.0
TIMED_OUT = -1


@dataclass(frozen=True)
class Shown:
    """How the commands of a row end, and words of what they say. `before` and `after` stand around them in the same shell, `more` behind
    each command that has no share of its own, and behind a test. `test`: the test that the row names is run in place of what needs other
    machines."""

    word: str
    exit: int = 0
    more: str = ""
    before: str = "true"
    after: str = "true"
    test: str = ""


CHECKED = Shown("PASS")
ZOO = Shown("promote")
ROWS = {
    1: Shown("openvino-f32"),
    2: Shown("tensorrt-fp32", exit=5),
    3: CHECKED,
    4: CHECKED,
    5: Shown("node"),
    6: Shown("p99", after="grep -o -m1 'p99' r.json"),
    7: Shown("run_peak_bytes", after="grep -o -m1 run_peak_bytes r.json"),
    8: Shown("torch-inductor-cuda", exit=5),
    9: Shown("PASS", before=f"{SET} first"),
    10: Shown("PASS"),
    11: Shown("release.html", before="assay check classifier.onnx --flow onnxruntime; assay check classifier.onnx --flow onnxruntime",
              after="grep -c '<svg' release.html"),
    12: Shown("[assay] blocked", exit=1),
    13: Shown("rollback", before=f"{SET} first && {SET} second"),
    14: Shown("PASS", more="--shard 1/20"),
    15: Shown("PASS", more="--shard 1/100"),
    16: Shown("PASS", more="--shard 1/30"),
    17: Shown("PASS", more="--shard 1/60"),
    18: Shown("tvm-llvm-o0"),
    19: CHECKED,
    20: Shown("operators", more="--filter 'matmul-float32-smoke-*'", after="grep -o -m1 roofline bench.html"),
    21: Shown("operators", more="--filter 'matmul-float32-smoke-*'"),
    22: Shown("iree-llvm-cpu", more=SMOKE),
    23: Shown("+reason =", exit=1, before="rm -r expectations; assay run operators --flow ncnn-f32 --filter 'index-float32-smoke-*'"),
    24: Shown("a kernel, not a pass", exit=1, before=f"rm -r expectations; {KNOWN}"),
    25: Shown("onnx-node"),
    26: Shown("executorch-xnnpack"),
    27: Shown("failed as expected", more=SMOKE),
    28: Shown("Delegated", more=SMOKE, after="head -1 r.csv"),
    29: Shown("crash", exit=1),
    30: Shown("PASS", more=SMOKE),
    31: Shown("executorch-xnnpack-static-int8-per-channel"),
    32: Shown("PASS", more="--shard 1/40"),
    33: Shown("PASS", more=SMOKE, before="for at in 2 3 4; do assay run operators --flow onnxruntime --shard $at/4 --save shard-$at.assay "
              f"{SMOKE}; done"),
    34: Shown("assay run operators --flow onnxruntime "),
    35: Shown("[100%]", test="a step of a code host"),
    36: ZOO, 37: ZOO, 38: ZOO, 39: ZOO, 40: ZOO, 44: ZOO,
    41: Shown("1.0 is served again", before=NEXT_VERSION),
    42: Shown("[100%]", test="a forge", more="-k 'pushed_branch or broken'"),
    43: Shown("[100%]", test="a table of a file, and a forge"),
    45: Shown("nothing is stale"),
    46: Shown("PASS", more="--shard 1/60"),
}  # fmt: skip


def rows() -> dict[int, tuple[list[str], str, str]]:
    """By number: the commands, what the cell says, and the test, of each row of the page."""
    commands = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if re.match(r"\| \d+ \|", line):
            number, _, command, _, _, test = (cell.strip() for cell in line.strip("|").split(" | "))
            path = re.search(r"\(\.\./([^)]+)\)", test)
            assert path is not None, f"row {number} names no test"
            commands[int(number)] = re.findall(r"`((?:assay|python) [^`]+)`", command), command, path[1]
    return commands


def line_of(number: int, commands: list[str], test: str) -> str:
    """What the shell is given; its exit code is that of the last command of the row."""
    shown = ROWS[number]
    if shown.test:
        return f"{sys.executable} -m pytest -q -p no:cacheprovider --rootdir {ROOT} {ROOT / test} {shown.more}"
    named = []
    for command in commands:
        for name, own in NAMES.items():
            command = re.sub(rf"(?<![A-Za-z-]){name}", own, command)
        named.append(f"{command} {shown.more}" if command.startswith(("assay run", "assay check")) else command)
    together = " && ".join(named)
    return f"({shown.before}) >before.log 2>&1; {together}; code=$?; ({shown.after}); exit $code"


def make(folder: Path, number: int) -> Path:
    """The place of one row: a model, its golden, a zoo with a submission."""
    place = folder / f"row-{number}"
    place.mkdir(parents=True)
    shutil.copy(DIGITS / "models" / "classifier.onnx", place)
    shutil.copytree(DIGITS / "goldens" / "classifier", place / "golden")
    shutil.copytree(ROOT / "expectations", place / "expectations")
    if ROWS[number] is ZOO or number == 41:
        sys.path.insert(0, str(ROOT / "examples" / "zoo"))
        from build import make as make_zoo

        make_zoo(place)
        shutil.copytree(SUBMISSION, place / "submissions" / "digit-classifier")
    if number == 41:
        shutil.copytree(ZOO_EXAMPLE / "models", place / "models", dirs_exist_ok=True)
        shutil.copy(ZOO_EXAMPLE / "manifest.json", place)
    if number == 45:
        (place / "assay.toml").write_text(GOLDEN, encoding="utf-8")
    if number == 12:
        lose_weights(place / "classifier.onnx")
        (place / "assay.toml").write_text(BLOCKED, encoding="utf-8")
    return place


def lose_weights(model: Path) -> None:
    """The largest of them become zero: a release that went wrong."""
    import onnx

    sys.path.insert(0, str(ROOT / "examples" / "release"))
    from release import lose_weights as lose

    changed = onnx.load(model)
    lose(changed)
    onnx.save(changed, model)


def run_line(line: str, place: Path, file: IO[str], limit_s: float = LIMIT_S) -> int:
    """Its exit code, TIMED_OUT where it did not end. Nothing that it started is left, also what has a session of its own."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    cores, left = len(os.sched_getaffinity(0)), limit_s
    with process_tree.starting() as know:
        process = subprocess.Popen(["bash", "-c", line], cwd=place, env=environment, stdout=file, stderr=file)
        know(process.pid)
    begin = last = time.monotonic()
    try:
        while left > 0 and last - begin < LONGEST * limit_s:
            try:
                return process.wait(min(LOOK_S, limit_s))
            except subprocess.TimeoutExpired:
                now = time.monotonic()
                left -= (now - last) * cores / max(cores, os.getloadavg()[0])
                last = now
        return TIMED_OUT
    finally:
        process_tree.kill_below(os.getpid())
        process.wait()
        process_tree.reap(patience_s=5.0)
        process_tree.ended(process.pid)


def processor_s() -> float:
    """Of all processes below this one that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shown(folder: Path, number: int, commands: list[str], test: str) -> tuple[bool, str]:
    """Whether the row is as it should be, and what the table says of it."""
    wanted, place = ROWS[number], make(folder, number)
    line = line_of(number, commands, test)
    begin, used = time.monotonic(), processor_s()
    log = folder / "logs" / f"{number:02}.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        file.write(f"$ {line}\n")
        file.flush()
        code = run_line(line, place, file)
    seconds, used, said = (
        time.monotonic() - begin,
        processor_s() - used,
        log.read_text(encoding="utf-8").partition("\n")[2],
    )
    right = code == wanted.exit and wanted.word in said
    trouble = "" if right else f"**wanted {wanted.exit} and {wanted.word!r}**"
    note = " ".join([f"its test, for it needs {wanted.test}"] * bool(wanted.test) + [wanted.more]).strip()
    ended = "not ended" if code == TIMED_OUT else code
    word = "yes" if wanted.word in said else "no"
    return right, f"| {number} | {ended} | {word} | {seconds:.0f} | {used:.0f} | {note} {trouble}|"


def chosen(text: str, known: list[int]) -> list[int]:
    """`1-13,46`; all where it is empty."""
    ends = [part.partition("-")[::2] for part in text.split(",") if part]
    return [number for number in known if not ends or any(int(a) <= number <= int(b or a) for a, b in ends)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", default="")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True)
    page = rows()
    assert page.keys() == ROWS.keys(), "a row of the page is not here, or the other way round"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what a row started is ended
    print("| row | exit code | the word | seconds | of processor | how |\n|--:|--:|---|--:|--:|---|")
    wrong = 0
    for number in chosen(asked.rows, list(page)):
        commands, _, test = page[number]
        right, line = shown(asked.folder.absolute(), number, commands, test)
        wrong += not right
        print(line, flush=True)
    print(f"{wrong} rows are not as they should be" if wrong else "every row is as it should be", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
