"""What a library says of a model while it is built or run is read once, whichever way it says it."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from assay.backends.openvino import OpenVINO
from assay.backends.tvm import TVM
from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.note import NoteCode, NoteWarning, noted
from assay.core.outcome import Stage
from assay.errors import Unsupported
from assay.worker.engine.capture_warnings import capture_warnings
from assay.worker.native_log import warned_by
from assay.worker.native_warnings import read_warnings
from assay.worker.stages import Stages


@contextmanager
def _output_in(path: Path) -> Iterator[None]:
    """As in a worker: what the process writes goes to a file."""
    before = os.dup(2)
    try:
        with path.open("wb") as log:
            os.dup2(log.fileno(), 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


class _Written(logging.Handler):
    """At once, wherever standard error goes."""

    def emit(self, record: logging.LogRecord) -> None:
        os.write(2, f"{self.format(record)}\n".encode())


def _read(stages: Stages) -> list[tuple[WarningCode, str]]:
    return [(one.code, one.text) for one in read_warnings(OpenVINO(), stages.printed, stages.logged, ())]


@pytest.mark.parametrize(
    "form", ["%(message)s", "W1126 04:47:16.557000 1 x.py:1] %(message)s", "\x1b[1m%(levelname)s %(message)s\x1b[0m"]
)
def test_a_logger_is_read_as_it_was_given_whatever_it_writes(form: str, tmp_path: Path) -> None:
    stages = Stages(lambda stage: None)
    logger = logging.Logger("nncf")  # not below the root
    handler = _Written()
    handler.setFormatter(logging.Formatter(form))
    logger.addHandler(handler)
    with _output_in(tmp_path / "log"), stages.enter(Stage.TRANSFORM):
        logger.warning("Rollback to %s\nfor the target point", "MINMAX")
        logger.info("falling back is only said")
    assert len(stages.printed) == 1, "the handler wrote to the file"
    assert _read(stages) == [(WarningCode.FALLBACK, "Rollback to MINMAX for the target point")]


def test_what_is_logged_while_a_library_is_imported_speaks_of_the_machine() -> None:
    stages = Stages(lambda stage: None)
    before = logging.getLogRecordFactory()
    with stages.enter(Stage.IMPORT):
        logging.getLogger("library").warning("no GPU")
    assert (stages.logged, logging.getLogRecordFactory()) == ([], before)


def test_a_record_whose_words_do_not_fit_its_values_ends_nothing() -> None:
    stages = Stages(lambda stage: None)
    logger = logging.Logger("library")
    logger.addHandler(logging.NullHandler())
    with stages.enter(Stage.LOWER):
        logger.warning("%d nodes", "three")
        logger.error("2 nodes were not fused")
    assert stages.logged == ["ERROR:library:2 nodes were not fused"]


def _given(category: type[Warning], words: str) -> warnings.WarningMessage:
    return warnings.WarningMessage(category(words), category, "/lib/some where/frontend.py", 12)


def test_words_by_pythons_warnings_have_their_code_and_what_says_nothing_is_left_out() -> None:
    caught = [
        _given(UserWarning, "Softmax opset<=12 fallback: static rank is unavailable"),
        _given(FutureWarning, "x() goes away"),
        _given(UserWarning, "something new"),
    ]
    assert [(one.code, one.text) for one in read_warnings(TVM(), (), (), caught)] == [
        (WarningCode.FALLBACK, "Softmax opset<=12 fallback: static rank is unavailable"),
        (WarningCode.DEPRECATED, "x() goes away"),
        (WarningCode.OTHER, "something new"),
    ]
    assert read_warnings(OpenVINO(), (), ("WARNING:root:telemetry is off",), [_given(UserWarning, "cache dir")]) == ()


def test_without_a_backend_that_reads_them_they_are_other() -> None:
    found = read_warnings(None, ("falling back",), ("WARNING:root:falling\n back",), [_given(FutureWarning, "old")])
    assert found == (
        NativeWarning(WarningCode.OTHER, text="falling back"),
        NativeWarning(WarningCode.DEPRECATED, text="old"),
    )


def test_what_is_said_while_python_imports_is_none_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever that is: in the middle of building, too."""
    (tmp_path / "said_late.py").write_text(
        "import logging, warnings\nwarnings.warn('no GPU')\nlogging.getLogger('x').warning('no GPU')\nold = '\\.'\n"
        "def build():\n    warnings.warn('not fused')\n    logging.getLogger('x').warning('not fused')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    stages = Stages(lambda stage: None)
    with warned_by() as caught, stages.enter(Stage.LOWER):
        module = import_module("said_late")
        module.build()
        warnings.warn(NoteWarning(noted(NoteCode.NO_EVENTS)), stacklevel=1)
    assert [str(one.message) for one in caught if one.category is UserWarning] == ["not fused"]
    assert [one.category for one in caught] == [UserWarning, NoteWarning]
    assert stages.logged == ["WARNING:x:not fused"]


def _failing_build() -> None:
    warnings.warn("Softmax fallback", stacklevel=1)
    raise Unsupported("no")


def test_what_was_said_before_building_fails_is_the_jobs() -> None:
    with warned_by() as caught, pytest.raises(Unsupported), capture_warnings(TVM(), Stages(lambda stage: None)):
        _failing_build()
    assert [str(one.message) for one in caught] == ["Softmax fallback"]


class _Fails(OpenVINO):
    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        raise KeyError(text)


class _AnswersOtherwise(OpenVINO):
    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        return (text,)  # type: ignore[return-value]


@pytest.mark.parametrize("backend", [_Fails(), _AnswersOtherwise()])
def test_a_plug_in_that_fails_on_words_costs_no_answer_and_loses_none(backend: OpenVINO) -> None:
    read = read_warnings(backend, ["a fusion is lost"], ["WARNING:nncf:slow"], ())
    assert [(one.code, one.text) for one in read] == [
        (WarningCode.OTHER, "a fusion is lost"),
        (WarningCode.OTHER, "WARNING:nncf:slow"),
    ]
