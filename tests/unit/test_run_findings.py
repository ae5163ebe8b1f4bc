"""What tools/run_findings.py makes of a script that shows its defect, shows none, is broken, or does not end; and of each there is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import run_findings  # noqa: E402

SCRIPTS = sorted(run_findings.FINDINGS.glob("*.py"))
HEAD = '"""ONNX Runtime 0.1.0 and torch 0.2, CPU: it is wrong."""\nimport sys\n'


@pytest.mark.parametrize(
    ("body", "status", "is_right"),
    [
        ("print('seen')\nsys.exit(1)", "shown", True),
        ("sys.exit(0)", "gone", True),
        ("raise ValueError('seen')", "broken", False),
        ("assert False, 'seen'", "broken", False),
        ("sys.exit('seen')", "shown", True),
        ("print(*sys.argv[1:], 'seen')\nsys.exit(int(sys.argv == [__file__]))", "shown", True),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "broken", False),
        ("sys.modules['nncf'] = None\nimport nncf", "unavailable", True),
        ("sys.modules['openvino.tools'] = None\nimport onnxruntime, openvino.tools", "broken", False),
        ("import of_no_backend", "broken", False),
        ("import onnxruntim", "broken", False),
        ("print('no device')\nsys.exit(77)", "unavailable", True),
        ("import time; time.sleep(60)", "late", False),
    ],
)
def test_how_a_script_ends(tmp_path: Path, body: str, status: str, is_right: bool) -> None:
    script = tmp_path / "one.py"
    script.write_text(HEAD + body)
    shown = run_findings.run(script, limit_s=0.5 if status == "late" else 60)
    assert (shown.status, shown.is_right) == (status, is_right)
    assert "seen" not in body or status == "broken" or shown.last_line == "seen"


def test_a_backend_that_lacks_what_it_imports_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "ncnn.py").write_text("import of_the_backend\n")
    script = tmp_path / "one.py"
    script.write_text(f"{HEAD}sys.path.insert(0, {str(tmp_path)!r})\nimport ncnn\n")
    shown = run_findings.run(script)
    assert (shown.status, shown.last_line) == ("unavailable", "No module named 'of_the_backend'")


def test_a_defect_that_is_gone_in_the_version_that_is_named_is_not_right(tmp_path: Path) -> None:
    from importlib import metadata

    script = tmp_path / "one.py"
    script.write_text(f'"""ONNX Runtime {metadata.version("onnxruntime")}, CPU: it is wrong."""\n')
    shown = run_findings.run(script)
    assert (shown.status, shown.other, shown.is_right) == ("gone", (), False)


def test_each_script_names_a_version() -> None:
    assert len(SCRIPTS) > 100
    assert [path.name for path in SCRIPTS if not run_findings.named_versions(path)] == []


def test_each_script_says_by_its_exit_code_what_it_saw() -> None:
    assert [path.name for path in SCRIPTS if "sys.exit(" not in path.read_text(encoding="utf-8")] == []


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_still_shows_what_it_says(script: Path) -> None:
    shown = run_findings.run(script)
    if shown.status == "unavailable":
        pytest.skip(shown.last_line)
    assert shown.is_right, shown
