"""What a library says of a model while it is built or run is read once, whichever way it says it."""

from __future__ import annotations

import logging
import multiprocessing
import os
import statistics
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import onnx
import pytest

from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.openvino.backend import OpenVINO
from assay.backends.tensorrt.backend import TensorRT
from assay.backends.tvm.backend import TVM
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
    return [(warning.code, warning.text) for warning in read_warnings(OpenVINO(), stages.printed, stages.logged, ())]


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
    before = logging.Logger.callHandlers
    with stages.enter(Stage.IMPORT):
        logging.getLogger("library").warning("no GPU")
    with stages.enter(Stage.LOWER):
        logging.getLogger("library").info("no GPU")
    assert (stages.logged, logging.Logger.callHandlers) == ([], before)


def _said_by(logger: logging.Logger, level: int = logging.WARNING) -> list[str]:
    stages = Stages(lambda stage: None)
    with stages.enter(Stage.LOWER):
        logger.log(level, "slow path")
    return stages.logged


def test_a_level_of_another_name_is_heard_as_a_warning() -> None:
    logged = _said_by(logging.Logger("nncf"), 35)
    assert logged == ["WARNING:nncf:slow path"]
    assert [warning.text for warning in read_warnings(OpenVINO(), (), logged, ())] == ["slow path"]


def test_what_a_library_silences_by_itself_is_not_said() -> None:
    filtered, once = logging.Logger("filtered"), logging.Logger("once")
    filtered.addFilter(lambda record: False)
    seen: list[str] = []
    once.addFilter(lambda record: not seen and not seen.append(record.msg))  # type: ignore[func-returns-value]
    assert _said_by(filtered) == []
    assert [len(_said_by(once)) for _ in range(2)] == [1, 0], "the filter is asked once for each record"
    leveled = logging.Logger("leveled")
    assert _said_by(leveled) == ["WARNING:leveled:slow path"], "without a handler it is written to standard error"
    leveled.addHandler(handler := logging.NullHandler())
    assert _said_by(leveled) == ["WARNING:leveled:slow path"]
    handler.setLevel(logging.ERROR)
    assert _said_by(leveled) == []
    assert _said_by(leveled, logging.ERROR) == ["ERROR:leveled:slow path"]


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
    assert [(warning.code, warning.text) for warning in read_warnings(TVM(), (), (), caught)] == [
        (WarningCode.FALLBACK, "Softmax opset<=12 fallback: static rank is unavailable"),
        (WarningCode.DEPRECATED, "x() goes away"),
        (WarningCode.OTHER, "something new"),
    ]
    assert read_warnings(OpenVINO(), (), ("WARNING:root:telemetry is off",), [_given(UserWarning, "cache dir")]) == ()


def test_without_a_backend_that_reads_them_they_are_other() -> None:
    warnings_read = read_warnings(
        None, ("falling back",), ("WARNING:root:falling\n back",), [_given(FutureWarning, "old")]
    )
    assert warnings_read == (
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
    assert [str(warning.message) for warning in caught if warning.category is UserWarning] == ["not fused"]
    assert [warning.category for warning in caught] == [UserWarning, NoteWarning]
    assert stages.logged == ["WARNING:x:not fused"]


def test_what_pythons_own_modules_call_deprecated_is_none_of_the_model() -> None:
    """As `os.fork` beside threads does since 3.12, named by the file of `multiprocessing`."""
    with warned_by() as caught:
        warnings.warn_explicit("use of fork() may lead to deadlocks", DeprecationWarning, multiprocessing.__file__, 1)
        warnings.warn_explicit("an average of nothing", RuntimeWarning, statistics.__file__, 1)
        warnings.warn_explicit("attribute axis goes away", DeprecationWarning, onnx.__file__, 1)
    assert [str(warning.message) for warning in caught] == ["an average of nothing", "attribute axis goes away"]


def _failing_build() -> None:
    warnings.warn("Softmax fallback", stacklevel=1)
    raise Unsupported("no")


def test_what_was_said_before_building_fails_is_the_jobs() -> None:
    with warned_by() as caught, pytest.raises(Unsupported), capture_warnings(TVM(), Stages(lambda stage: None)):
        _failing_build()
    assert [str(warning.message) for warning in caught] == ["Softmax fallback"]


class _Fails(OpenVINO):
    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        raise KeyError(text)


class _AnswersOtherwise(OpenVINO):
    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        return (text,)  # type: ignore[return-value]


class _CountsBelowNone(OpenVINO):
    def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
        return (NativeWarning(WarningCode.FALLBACK, text=text, count=-4),)


@pytest.mark.parametrize("backend", [_Fails(), _AnswersOtherwise(), _CountsBelowNone()])
def test_a_plug_in_that_fails_on_words_costs_no_answer_and_loses_none(backend: OpenVINO) -> None:
    read = read_warnings(backend, ["a fusion is lost"], ["WARNING:nncf:slow"], ())
    assert [(warning.code, warning.text) for warning in read] == [
        (WarningCode.OTHER, "a fusion is lost"),
        (WarningCode.OTHER, "slow"),
    ]


def test_what_python_gave_is_kept_where_the_reader_of_a_backend_knows_only_its_own_marks() -> None:
    caught = [_given(DeprecationWarning, "build_engine"), _given(UserWarning, "weights were cast")]
    read = read_warnings(TensorRT(), ["a line of the program"], ["WARNING:trt:slow"], caught)
    assert [(warning.code, warning.text) for warning in read] == [
        (WarningCode.OTHER, "slow"),
        (WarningCode.DEPRECATED, "build_engine"),
        (WarningCode.OTHER, "weights were cast"),
    ]


_NODE = "2026-11-27 14:00:00.1 [W:onnxruntime:, graph.cc:12 F] Node 'a' (Foo) uses an attribute that is deprecated"


def test_a_printed_line_that_ends_as_a_logger_spoke_is_not_the_loggers() -> None:
    (printed, logged) = read_warnings(OnnxRuntime(), [_NODE], ["WARNING:mylib:deprecated"], ())
    assert (printed.code, printed.text) == (
        WarningCode.DEPRECATED,
        "Node 'a' (Foo) uses an attribute that is deprecated",
    )
    assert logged.text == "deprecated"


@pytest.mark.parametrize(
    "prefix",
    ["", "WARNING:my.lib:", "2026-11-27 14:00:00,123 - my.lib - WARNING - ", "[my.lib] [W 14:00:00 x.py:12] "],
)
def test_what_a_logger_writes_before_its_words_is_known(prefix: str) -> None:
    class _Hears(OpenVINO):
        def read_warnings(self, text: str) -> tuple[NativeWarning, ...]:
            return (NativeWarning(WarningCode.FALLBACK, text=text),)

    read = read_warnings(_Hears(), [f"{prefix}Falling back"], ["WARNING:my.lib:Falling back"], ())
    assert [warning.text for warning in read] == ["WARNING:my.lib:Falling back"]


def test_a_library_that_warns_in_every_call_costs_no_more_for_each() -> None:
    begin = time.process_time()
    with warned_by(), capture_warnings(OnnxRuntime(), Stages(lambda stage: None)) as said:
        for call in range(30_000):
            warnings.warn_explicit(f"call {call}", UserWarning, "/usr/lib/library.py", 1)
    assert len(said.native) == 200
    assert time.process_time() - begin < 4.0
