"""Where the inputs and the answers of each job are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.job import MeasureJob
from assay.errors import UsageError
from assay.pipeline.kept_files.save_tensors import with_saving
from assay.testing.builders import make_job

ONE = [make_job("m", "ort"), make_job("m", "ort", "measure")]
TWO = [make_job("m", "ort"), make_job("m", "ov+fp16")]
FOUR = [*TWO, make_job("n", "ort"), make_job("n", "ov+fp16")]


def test_one_job_keeps_them_where_the_user_says() -> None:
    verify, measure = with_saving(ONE, "in.npz", "out.npz")
    assert (verify.save_inputs, verify.save_outputs) == tuple(str(Path(n).absolute()) for n in ("in.npz", "out.npz"))
    assert isinstance(measure, MeasureJob)


def test_several_have_folders_by_case_and_flow_and_inputs_are_kept_once() -> None:
    here = Path("kept").absolute()
    assert [saved_job.save_outputs for saved_job in with_saving(TWO, "", "kept")] == [
        str(here / "ort"),
        str(here / "ov+fp16"),
    ]
    jobs = with_saving(FOUR, "kept", "kept")
    assert [saved_job.save_inputs for saved_job in jobs] == [str(here / "m"), "", str(here / "n"), ""]
    assert [saved_job.save_outputs for saved_job in jobs][1:3] == [str(here / "m" / "ov+fp16"), str(here / "n" / "ort")]


@pytest.mark.parametrize(
    ("jobs", "inputs", "outputs", "said"),
    [
        (TWO, "", "o.npz", "--save-outputs o.npz holds the answers of one engine, and there are 2: give the name of a folder"),
        (FOUR, "i.npz", "", "--save-inputs i.npz holds the inputs of one model, and there are 2: give the name of a folder"),
        (ONE[1:], "i.npz", "", "--save-inputs and --save-outputs keep what is verified, and nothing is: leave --only-kind out"),
    ],
)  # fmt: skip
def test_one_file_for_several_is_refused(jobs: list, inputs: str, outputs: str, said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(UsageError) as refused:
        with_saving(jobs, inputs, outputs)
    assert str(refused.value) == said
