"""Prompts as calls: which answers must agree, and what is fed."""

from __future__ import annotations

import numpy as np

from assay.core.model import Model, TensorSpec
from assay.core.schedules import NAMES, PADDED
from assay.models.own_data.prompts.schedules import Scheduled, scheduled
from assay.models.own_data.prompts.signature import signature_of

IDS = ["batch", "new"]
PROMPTS = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 8], [7, 7]]
CACHE = {"present.0.key": "past_key_values.0.key", "present.0.value": "past_key_values.0.value"}


def _model(*, cached: bool = True, masked: bool = True, batch: int | str = "batch") -> Model:
    past = ["batch", 2, "past", 4]
    inputs = [TensorSpec("input_ids", "int64", (batch, "new"))]
    inputs += [TensorSpec("attention_mask", "int32", ("batch", "all"))] * masked
    inputs += [TensorSpec(name, "float16", tuple(past)) for name in CACHE.values() if cached]
    outputs = [TensorSpec("logits", "float32", ("batch", "new", 10))]
    outputs += [TensorSpec(name, "float16", ("batch", 2, "all", 4)) for name in CACHE if cached]
    return Model("lm", "lm.onnx", "", inputs=tuple(inputs), outputs=tuple(outputs))


def _scheduled(model: Model, prompts: list[list[int]] = PROMPTS) -> Scheduled:
    return scheduled(prompts, signature_of(model, {}))


def _names(found: Scheduled) -> set[str]:
    return {NAMES[number] for number in found.labels["schedule"]}


def test_the_same_tokens_have_the_same_number_in_whatever_call_they_stand() -> None:
    found = _scheduled(_model())
    labels = found.labels
    calls = [call for sequence in found.calls for call in sequence]
    assert len(calls) == len(labels["schedule"])
    assert _names(found) == set(NAMES)
    seen: dict[int, tuple[int, ...]] = {}
    number = 0
    for sequence in found.calls:
        rows: list[list[int]] = [[] for _ in sequence[0]["input_ids"]]
        for call in sequence:
            mask = call["attention_mask"][:, -call["input_ids"].shape[1] :]
            for row, tokens in enumerate(call["input_ids"]):
                for column, token in enumerate(tokens):
                    prefix = int(labels["prefix"][number, row, column])
                    assert (prefix == PADDED) == (mask[row, column] == 0)
                    if prefix != PADDED:
                        rows[row].append(int(token))
                        assert seen.setdefault(prefix, tuple(rows[row])) == tuple(rows[row])
            number += 1
    assert len(set(seen.values())) == len(seen) == 9 + 2 + 2  # two prompts begin alike
    following = labels["next_token"][labels["prefix"] == labels["prefix"][1, 0, 2]]
    assert set(following) == {4, 5} or len(set(following)) == 1


def test_what_a_call_takes() -> None:
    found = _scheduled(_model())
    steps = next(call for call in found.calls if len(call) > 4)
    first, second = steps[0], steps[1]
    assert first["input_ids"].tolist() == [[1]]
    assert second["input_ids"].tolist() == [[2]]
    assert second["attention_mask"].tolist() == [[1, 1]]
    assert second["attention_mask"].dtype == np.int32
    assert first["past_key_values.0.key"].shape == (1, 2, 0, 4)
    assert first["past_key_values.0.key"].dtype == np.float16
    assert not any(name.startswith("past") for name in second)
    (right,) = found.calls[-1]
    lengths = right["attention_mask"].sum(axis=1)
    assert [row.tolist() for row in right["attention_mask"]] == [
        [1] * length + [0] * (max(lengths) - length) for length in lengths
    ]
    assert len(set(lengths)) > 1
    padded = found.calls[-2][0]
    assert padded["attention_mask"].tolist()[2][:-1] == [0] * (padded["attention_mask"].shape[1] - 1)
    assert padded["past_key_values.0.key"].shape == (3, 2, 0, 4)


def test_a_model_is_asked_what_it_can_take() -> None:
    assert _names(_scheduled(_model(cached=False))) == {"whole", "prefix", "batch", "padding", "right-padding"}
    assert not {"padding", "right-padding"} & _names(_scheduled(_model(masked=False)))
    assert _names(_scheduled(_model(batch=1))) == {"whole", "prefix", "chunks", "steps"}
    assert _names(_scheduled(_model(), [[3, 4, 5, 6]])) == set(NAMES)  # beside its own beginning
