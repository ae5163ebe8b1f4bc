"""Libraries that generate tokens: right ones pass in every way, and each planted fault is shown by one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from assay.backends.exported_decoder import ExportedDecoder
from assay.backends.llama_cpp.backend import LlamaCpp
from assay.backends.local_prompts import Decoded, Decoder, DecodingEngine, LocalService, Prompt, Sampling
from assay.backends.onnxruntime.genai import OnnxRuntimeGenai
from assay.backends.openvino.genai import OpenVinoGenai
from assay.backends.transformers import Transformers
from assay.core.flow import Flow, Option
from assay.errors import InvalidModel, Unsupported, UsageError
from assay.models.checkpoints.to_graph import to_graph
from assay.ports.prompts import ContinuesPrompts, DecodesPrompts, Top
from assay.worker.service.asking import alone, generated, together
from assay.worker.service.draw_distribution import draw_rules
from assay.worker.service.oracle import Oracle
from assay.worker.service.places import difference, judge_all
from assay.worker.service.recorded_service import RecordedDecoder, recorded
from assay.worker.service.rules import seed_rules
from local_models import EXAMPLE, rotary_folder, rotary_gguf
from served_model import oracle

MODEL = EXAMPLE / "models" / "rotary.onnx"
BUILT = pytest.mark.skipif(find_spec("llama_cpp") is None, reason="llama-cpp-python is built from source")
LIBRARIES = ("onnxruntime-genai", "openvino-genai", "transformers", pytest.param("llama-cpp", marks=BUILT))


@pytest.fixture(scope="module")
def right() -> Oracle:
    return oracle()


def _opened(library: str, folder: Path, **changed: object) -> DecodingEngine:
    if library == "onnxruntime-genai":
        return OnnxRuntimeGenai().lower(MODEL, Flow("genai", library))
    if library == "openvino-genai":
        return OpenVinoGenai().lower(MODEL, Flow("genai", library))
    if library == "llama-cpp":
        file = rotary_gguf(folder / "rotary.gguf")
        return LlamaCpp().lower(MODEL, Flow("gguf", library, options={"gguf": str(file)}))
    options: dict[str, Option] = {"checkpoint": str(rotary_folder(folder / "rotary", **changed))}
    return Transformers().lower(MODEL, Flow("hf", library, options=options))


WAYS: dict[str, Callable[[DecodesPrompts, Oracle], object]] = {
    "alone": lambda service, right: difference(judge_all(alone(service, right), right)),
    "generated": lambda service, right: difference(judge_all(generated(service, right)[0], right)),
    "together": lambda service, right: difference(judge_all(together(service, right), right)),
    "seeds": lambda service, right: [*seed_rules(service, right)],
    "draws": lambda service, right: draw_rules(service, right, 400)[0],
}


class _Faulty:
    """A library with one fault around another that has none."""

    def __init__(self, inner: Decoder, fault: str) -> None:
        self._inner, self._fault = inner, fault
        self._before: Prompt = ()
        self._count = 0

    def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:
        self._count += 1
        rows = [self._read(rows, at, keep) for at in range(len(rows))]
        if self._fault == "seed-ignored":
            sampling = replace(sampling, seed=self._count)
        if self._fault == "seed-constant":
            sampling = replace(sampling, seed=1)
        if self._fault == "sampler-temperature":
            sampling = replace(sampling, temperature=sampling.temperature * 1.3)
        if self._fault == "sampler-greedy":
            sampling = replace(sampling, temperature=0.0)
        decodings = self._inner.generate(rows, tokens, sampling, keep=keep and self._fault != "stale-prefix")
        self._before = rows[0]
        return [self._changed(decoded) for decoded in decodings]

    def _read(self, rows: Sequence[Prompt], at: int, keep: bool) -> Prompt:
        row, alone = rows[at], len(rows) == 1
        if self._fault == "stale-prefix" and keep and alone and self._before[:1] == row[:1]:
            half = min(len(row), len(self._before)) // 2 + 1
            return (*self._before[:half], *row[half:])[: len(row)]
        if self._fault == "neighbour" and not alone and len(row) > 1:
            return (rows[at - 1][0], *row[1:])
        if self._fault == "padding-seen" and not alone:
            return (*[0] * (max(map(len, rows)) - len(row)), *row)
        if self._fault == "context-cut":
            return row[-4:]
        return (0, *row) if self._fault == "extra-token" else row

    def _changed(self, decoded: Decoded) -> Decoded:
        if decoded.logits is None:
            return self._changed_tops(decoded)
        if self._fault == "logits-scaled":
            return replace(decoded, logits=decoded.logits / 1.0001)
        if self._fault == "one-token-more-likely":
            return replace(
                decoded,
                logits=decoded.logits + 1e-3 * (np.arange(decoded.logits.shape[-1]) == decoded.logits[0].argmax()),
            )
        if self._fault == "not-a-number":
            return replace(decoded, logits=np.where(np.arange(decoded.logits.shape[-1]) == 7, np.nan, decoded.logits))
        if self._fault == "second-best":
            order = np.argsort(-decoded.logits[-1])
            return replace(decoded, ids=(*decoded.ids[:-1], int(order[1])))
        return replace(decoded, logits=decoded.logits[:, ::-1]) if self._fault == "turned" else decoded

    def _changed_tops(self, decoded: Decoded) -> Decoded:
        """The same faults where the chosen token alone has a log-probability."""
        changes: dict[str, Callable[[int, float], Top]] = {
            "logits-scaled": lambda token, value: {token: value / 1.0001},
            "one-token-more-likely": lambda token, value: {token: value + 1e-3},
            "not-a-number": lambda token, _: {token: float("nan")},
            "turned": lambda token, value: {511 - token: value},
        }
        if self._fault == "second-best":
            return replace(decoded, ids=(*decoded.ids[:-1], (decoded.ids[-1] + 1) % 512))
        if change := changes.get(self._fault):
            return replace(decoded, tops=tuple(change(*item) for top in decoded.tops for item in top.items()))
        return decoded


def _with(engine: DecodingEngine, fault: str) -> LocalService:
    return LocalService(_Faulty(engine.service.decoder, fault), 64)


FAULTS = {
    "stale-prefix": "alone",
    "context-cut": "alone",
    "extra-token": "alone",
    "logits-scaled": "alone",
    "one-token-more-likely": "alone",
    "not-a-number": "alone",
    "turned": "alone",
    "second-best": "generated",
    "neighbour": "together",
    "padding-seen": "together",
    "seed-ignored": "seeds",
    "seed-constant": "seeds",
    "sampler-temperature": "draws",
    "sampler-greedy": "draws",
}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_right_library_passes_in_every_way_and_each_fault_is_shown(
    library: str, right: Oracle, tmp_path: Path
) -> None:
    engine = _opened(library, tmp_path)
    assert isinstance(engine, ContinuesPrompts)
    assert isinstance(engine.service, DecodesPrompts)
    assert [way for way, asked in WAYS.items() if asked(engine.service, right)] == []
    shown = [fault for fault, way in FAULTS.items() if WAYS[way](_with(engine, fault), right)]
    assert shown == [*FAULTS]


@pytest.mark.parametrize(
    "compiler",
    ["eager", pytest.param("inductor", marks=pytest.mark.slow), pytest.param("executorch", marks=pytest.mark.slow)],
)
def test_an_exported_program_passes_as_it_was_stored_and_each_fault_is_shown(
    compiler: str, right: Oracle, tmp_path: Path
) -> None:
    options: dict[str, Option] = {"checkpoint": str(rotary_folder(tmp_path / "rotary")), "compiler": compiler}
    flow = Flow("exported", "exported-decoder", options=options)
    ExportedDecoder().lower(MODEL, flow).save(tmp_path)
    engine = ExportedDecoder().load(tmp_path, flow)
    ways = {way: WAYS[way] for way in ("alone", "generated", "together")}
    assert [way for way, asked in ways.items() if asked(engine.service, right)] == []
    faults = {fault: way for fault, way in FAULTS.items() if way in ways and fault != "stale-prefix"}
    assert [fault for fault, way in faults.items() if WAYS[way](_with(engine, fault), right)] == [*faults]


def test_a_text_longer_than_what_was_exported_is_refused(tmp_path: Path) -> None:
    options: dict[str, Option] = {"checkpoint": str(rotary_folder(tmp_path / "rotary")), "context": 9}
    service = ExportedDecoder().lower(MODEL, Flow("exported", "exported-decoder", options=options)).service
    assert service.complete(range(9), 1).ids
    with pytest.raises(Unsupported, match="exported for 9 tokens, and a text has 10: give --option context=10"):
        service.complete(range(9), 2)


@pytest.mark.parametrize(
    "changed",
    [
        {"rope_parameters": {"rope_type": "default", "rope_theta": 10100.0}},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}},
        {"rms_norm_eps": 1e-6},
        {"num_key_value_heads": 2, "hidden_act": "gelu"},
    ],
    ids=str,
)
def test_a_checkpoint_with_another_setting_is_another_model(
    changed: dict[str, object], right: Oracle, tmp_path: Path
) -> None:
    assert WAYS["alone"](_opened("transformers", tmp_path, **changed).service, right)


def test_what_it_keeps_of_a_prompt_is_not_read_again(tmp_path: Path) -> None:
    """The prefix cache is that of the library, and it forgets when it is told to."""
    service = _opened("onnxruntime-genai", tmp_path).service
    read: list[int] = []

    class Counted:
        def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:
            read.append(keep)
            return service.decoder.generate(rows, tokens, sampling, keep=keep)

    counted = LocalService(Counted(), 4)
    counted.complete((5, 6, 7), 1)
    counted.forget()
    counted.complete((5, 6, 7), 1)
    counted.complete((5, 6, 7), 1, temperature=1.0)
    counted.complete((5, 6, 7), 1)
    assert read == [True, False, False, True]


def test_a_prompt_that_ends_with_the_token_that_pads_is_read(right: Oracle, tmp_path: Path) -> None:
    """ONNX Runtime GenAI 0.18.0 takes it for padding even in a prompt that stands alone: another one pads then."""
    service = _opened("onnxruntime-genai", tmp_path).service
    for prompt in ((5, 6, 511), (511,)):
        right.learn([prompt])
        (top,) = service.complete(prompt, 1).tops
        assert max(abs(value - right.logs(prompt)[token]) for token, value in top.items()) < 1e-4


def test_answers_of_a_library_are_kept_with_its_abilities(tmp_path: Path) -> None:
    service = recorded(_opened("onnxruntime-genai", tmp_path).service)
    assert isinstance(service, RecordedDecoder)
    service.complete_together([(5, 6), (7,)], 2)
    assert [(record.prompt, len(record.answer.ids or ())) for record in service.records] == [((5, 6), 2), ((7,), 2)]


def test_text_is_refused(tmp_path: Path) -> None:
    engine = _opened("onnxruntime-genai", tmp_path)
    refused: list[Callable[[], object]] = [
        lambda: engine.service.complete("text", 1),
        lambda: engine.service.complete((5,), 1, stop=["x"]),
        lambda: engine.service.chat([], 1),
        lambda: engine.chat_text([]),
        lambda: engine.run({}),
    ]
    for call in refused:
        with pytest.raises(UsageError):
            call()
    assert engine.run({"input_ids": np.array([[5, 6], [7, 8]])})["next_token"].shape == (2,)


def test_a_model_without_its_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="or name one with --option checkpoint=FOLDER"):
        Transformers().lower(MODEL, Flow("hf", "transformers"))
    with pytest.raises(InvalidModel, match="cannot open the checkpoint"):
        Transformers().lower(MODEL, Flow("hf", "transformers", options={"checkpoint": str(tmp_path)}))


def test_a_graph_without_a_cache_is_refused() -> None:
    other = EXAMPLE.parents[0] / "digits" / "models" / "classifier.onnx"
    with pytest.raises(Unsupported, match="needs a graph with input_ids, past_key_values"):
        OnnxRuntimeGenai().lower(other, Flow("genai", "onnxruntime-genai"))


def test_a_checkpoint_that_lacks_a_weight_is_refused(tmp_path: Path) -> None:
    """transformers draws the head at random, and warns."""
    with pytest.raises(InvalidModel, match=r"has no weight lm_head\.weight: transformers would draw one at random"):
        _opened("transformers", tmp_path, tie_word_embeddings=False)


def test_a_checkpoint_that_has_changed_since_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    folder, flow = rotary_folder(tmp_path / "rotary"), Flow("hf", "transformers")
    graph, _ = to_graph(folder)
    (tmp_path / "kept").mkdir()
    Transformers().lower(graph, flow).save(tmp_path / "kept")
    assert Transformers().load(tmp_path / "kept", flow).service.complete((5, 6), 1).ids
    rotary_folder(folder, rms_norm_eps=1e-3)
    for again in (lambda: Transformers().load(tmp_path / "kept", flow), lambda: Transformers().lower(graph, flow)):
        with pytest.raises(InvalidModel, match="rotary has changed since the model was read: check it again"):
            again()


def test_the_content_of_a_named_checkpoint_decides_what_is_lowered() -> None:
    assert [option.name for option in Transformers.options if option.path] == ["checkpoint"]
