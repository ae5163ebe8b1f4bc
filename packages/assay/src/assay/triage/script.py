"""A script that its vendor can run: numpy, onnx and the library. It fails with the defect and passes without."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from assay.core.environment import Interpreter
from assay.core.flow import Flow, variables_of
from assay.environments.releases import ScriptRun
from assay.models.telemetry import RUN_SCRIPT
from assay.ports import Backend, ShowsPlainUse, ShowsSavedUse
from assay.triage.cause import Cause
from assay.triage.since import State
from assay.triage.symptom import Symptom, same_words

NAME = "repro.py"
SCRIPT_S = 120.0
DONE = "relative error"
"""What the script prints of each output that it compares."""
_CODE = "smallest/model.py"
_PROGRAM = "smallest/program.py"
"""Of a backend that takes programs of torch."""

_MAIN = '''

def error(given, right):
    """Relative L2 distance; infinite where shapes differ, or where one side alone has no number."""
    given, right = np.asarray(given).astype(np.float64), np.asarray(right).astype(np.float64)
    if given.shape != right.shape:
        return np.inf
    finite = np.isfinite(right)
    if not np.array_equal(np.isfinite(given), finite) or (given[~finite] != right[~finite])[~np.isnan(given[~finite])].any():
        return np.inf
    if not np.array_equal(np.isnan(given), np.isnan(right)):
        return np.inf
    return float(np.linalg.norm((given - right)[finite]) / (np.linalg.norm(right[finite]) or 1.0))


WRONG = 1
arms = sys.argv[1:] or ["fails"]
wrong = False
for arm in arms:
    given = ARMS[arm](model, inputs)
    for name, right in expected.items():
        far = error(given[name], right)
        print(f"{arm}: output {name!r}: relative error {far:.3g}{'  WRONG' if far > LIMIT else ''}")
        print("  expected", np.asarray(right).reshape(-1)[:8].tolist())
        print("  got     ", np.asarray(given[name]).reshape(-1)[:8].tolist())
        wrong = wrong or far > LIMIT
sys.exit(WRONG if wrong else 0)
'''


def write_script(cause: Cause, backend: Backend, flow: Flow, title: str) -> str:
    """The path of the script; "" where there is no small model, or the backend does not show its plain use. Of a cause that is `saved` by
    way of what the backend saves and loads."""
    is_program = backend.accepts == "torch"
    code = Path(cause.folder) / (_PROGRAM if is_program else _CODE)
    if not isinstance(backend, ShowsPlainUse) or not code.is_file():
        return ""
    failing = _defined(backend, replace(flow, options={**flow.options, **cause.options}), "fails", saved=cause.saved)
    if not failing:
        return ""
    model = code.read_text()
    packed = "zlib." in model
    imports = ["import sys"]
    imports = ["import base64", *imports, "import zlib"] if packed else imports
    if is_program and cause.cures and (variables := variables_of(cause.cures[0].options)):
        # torch reads them when it is imported.
        imports = ["import os", *imports, "", f"if 'cured' in sys.argv:\n    os.environ.update({dict(variables)!r})"]
    used = ["helper"] + (["numpy_helper"] if "numpy_helper." in model else [])
    more = ["import ml_dtypes"] if "ml_dtypes." in model else []
    more += ["import numpy as np"] + (["import onnx"] if "onnx.GraphProto" in model else [])
    if is_program:
        more += ["import torch", "from numpy import inf, nan", "from torch import device"]
    else:
        more.append(f"from onnx import {', '.join(used)}")
    parts = [
        f'"""{title}"""',
        "",
        *imports,
        "",
        *more,
        "",
        model,
        f"LIMIT = {_limit(cause):.3g}",
        "",
        "",
        failing,
    ]
    arms = ["fails"]
    cured = _defined(backend, _cured(cause, flow), "cured", saved=cause.saved) if cause.cures else ""
    if cured:
        parts += ["", cured]
        arms.append("cured")
    parts += ["", f"ARMS = {{{', '.join(f'{arm!r}: {arm}' for arm in arms)}}}"]
    path = Path(cause.folder) / NAME
    path.write_text("\n".join(parts) + _MAIN)
    return str(path)


def _limit(cause: Cause) -> float:
    """Between what is right and what is wrong, on a scale of factors: an eighth of the error, and at most a hundredth."""
    size = cause.small_error if cause.small_error is not None else cause.symptom.size
    return min(size / 8.0, 1e-2) if size and size != float("inf") else 1e-2


def _cured(cause: Cause, flow: Flow) -> Flow:
    return replace(flow, options={**flow.options, **cause.options, **cause.cures[0].options})


def _defined(backend: ShowsPlainUse, flow: Flow, name: str, *, saved: bool) -> str:
    used = backend.saved_code(flow) if saved and isinstance(backend, ShowsSavedUse) else backend.plain_code(flow)
    code = used.replace("def run(", f"def {name}(", 1)
    variables = variables_of(flow.options)
    if not variables:
        return code
    first, _, rest = code.partition("\n")
    lines = "".join(f"    os.environ[{name!r}] = {value!r}\n" for name, value in variables.items())
    return f"{first}\n    import os\n{lines}{rest}"


def run_script(path: str, interpreter: Interpreter, arm: str) -> ScriptRun:
    """With that arm; its exit code is None where it does not end in time, or cannot be started."""
    try:
        done = subprocess.run(
            [interpreter.program, "-c", RUN_SCRIPT, path, arm],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SCRIPT_S,
            check=False,
            env=_clean(interpreter.environ(os.environ)),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ScriptRun(None)
    return ScriptRun(done.returncode, done.stdout if DONE in done.stdout else done.stdout + done.stderr)


def _clean(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith("PYTHONPATH")}


def state_in(run: ScriptRun, symptom: Symptom) -> State:
    """What the end of the script says of a release. A traceback ends with 1 as well, and says nothing of the defect, unless it is the
    defect."""
    code = run.exit_code
    if symptom.is_refusal:
        refused = code == 1 and DONE not in run.output and same_words(symptom.kind, run.output)
        return State.RIGHT if code == 0 else State.WRONG if refused else State.UNTESTABLE
    if symptom.kind.startswith("crash"):
        return State.WRONG if code is not None and code < 0 else State.RIGHT if code == 0 else State.UNTESTABLE
    if code == 0:
        return State.RIGHT
    return State.WRONG if code == 1 and DONE in run.output else State.UNTESTABLE
