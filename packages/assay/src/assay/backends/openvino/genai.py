"""OpenVINO GenAI: generation around an exported graph whose cache became a state, with its own sampler."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.backends.artifact import read_artifact
from assay.backends.availability import installed
from assay.backends.flow_options import positive, resolve_options
from assay.backends.local_prompts import DRAWS, GENAI_NAMES, Decoded, DecodingEngine, Prompt, Sampling
from assay.backends.onnx_loader import load_checked
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unsupported
from assay.ports import Availability, OptionSpec
from assay.ports.prompts import Top

_PAST = re.compile(r"past_key_values(\.\d+\.(?:key|value))")
_NO_TOKEN = 2**40
"""Where no token ends a text: the library wants a number."""
_FILES = ("openvino_model.xml", "openvino_model.bin")


class OpenVinoGenai:
    """What it generates is no tensor: `assay.worker.service` judges it prompt by prompt. It gives the log-probability of the token
    that it chose, and of no other."""

    name = "openvino-genai"
    library = "openvino"
    accepts = "onnx"
    dynamic = True
    prompted = True
    options = (
        DRAWS,
        OptionSpec("logprobs", 1, (1,), "tokens that are judged at each place: it tells the chosen one alone"),
        OptionSpec("hint", "f32", ("f32", "bf16", "f16"), "INFERENCE_PRECISION_HINT: what it computes in"),
        OptionSpec("threads", 1, help="threads of the processor"),
    )
    flows = (
        Flow(name="openvino-genai", backend="openvino-genai"),
        Flow(name="openvino-genai-bf16", backend="openvino-genai", options={"hint": "bf16"}, precision="bfloat16"),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("openvino-genai", "openvino_genai", "openvino-genai")

    def prepare(self) -> None:
        """Import openvino_genai."""
        import openvino_genai  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> DecodingEngine:
        """Raises Unsupported for a graph without the names of a cache that it is made of."""
        options = self._options(flow)
        load_checked(model)
        return _engine(_with_state(model), options)

    def load(self, folder: Path, flow: Flow) -> DecodingEngine:
        """The graph with its state."""
        return _engine({name: read_artifact(folder / name) for name in _FILES}, self._options(flow))

    def _options(self, flow: Flow) -> dict[str, Option]:
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        return options


def _with_state(model: Path) -> dict[str, bytes]:
    """The files of the graph whose cache is a state, reordered by beam_idx, as the exporter of Optimum writes it."""
    import openvino
    from openvino import opset13
    from openvino._offline_transformations import apply_make_stateful_transformation

    graph = openvino.Core().read_model(model)
    names = {port.any_name for port in graph.inputs}
    cache = {match[0]: f"present{match[1]}" for name in names if (match := _PAST.fullmatch(name))}
    outputs = {output.any_name for output in graph.outputs}
    if not {"input_ids", "attention_mask"} <= names or not cache or not {"logits", *cache.values()} <= outputs:
        raise Unsupported(
            noted(BackendCode.GRAPH_NEEDS, library="openvino-genai", names=("attention_mask", *GENAI_NAMES)),
            cause="other",
        )
    beams = opset13.parameter([-1], dtype=np.int32, name="beam_idx")
    beams.output(0).get_tensor().add_names({"beam_idx"})
    graph.add_parameters([beams])
    for name in cache:
        held = graph.input(name)
        users = list(held.get_target_inputs())
        ordered = opset13.gather(held.get_node(), beams, opset13.constant(0))
        for user in users:
            user.replace_source_output(ordered.output(0))
    graph.validate_nodes_and_infer_types()
    apply_make_stateful_transformation(graph, cache)
    with tempfile.TemporaryDirectory(prefix="openvino-genai-") as folder:
        openvino.save_model(graph, Path(folder) / _FILES[0], compress_to_fp16=False)
        return {name: (Path(folder) / name).read_bytes() for name in _FILES}


def _engine(files: dict[str, bytes], options: dict[str, Option]) -> DecodingEngine:
    def keep(folder: Path) -> None:
        for name, content in files.items():
            (folder / name).write_bytes(content)

    def describe() -> EngineInfo:
        import openvino_genai

        described = {name: str(value) for name, value in options.items()}
        return EngineInfo(backend_version=str(openvino_genai.__version__), options=described)

    return DecodingEngine(_Pipeline(files, options), options, keep=keep, describe=describe)


class _Pipeline:
    """Its pipeline forgets each prompt when the next one comes: there is no prefix cache to keep anything in."""

    def __init__(self, files: dict[str, bytes], options: dict[str, Option]) -> None:
        import openvino_genai

        with tempfile.TemporaryDirectory(prefix="openvino-genai-") as folder:
            for name, content in files.items():
                (Path(folder) / name).write_bytes(content)
            # Without a tokenizer: tokens go in and come out as numbers.
            (Path(folder) / "config.json").write_text('{"model_type": "llama"}', "utf-8")
            self._pipeline: Any = openvino_genai.LLMPipeline(
                folder,
                openvino_genai.Tokenizer(folder),
                "CPU",
                ATTENTION_BACKEND="SDPA",
                INFERENCE_PRECISION_HINT=options["hint"],
                INFERENCE_NUM_THREADS=options["threads"],
            )

    def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:  # noqa: ARG002
        """It tells the sum of the log-probabilities of a text. That of each token is the difference to the same text with one token
        less, as long as both are the same text."""
        texts, scores = self._texts(rows, tokens, sampling)
        sums = [] if sampling.temperature else [self._texts(rows, count, sampling) for count in range(1, tokens)]
        decoded = []
        for row, text in enumerate(texts):
            before, tops = 0.0, list[Top]()
            for count, token in enumerate(text, 1):
                known, total = (texts, scores) if count == tokens else sums[count - 1] if sums else ([], [])
                same = bool(known) and known[row] == text[:count]
                tops.append({token: total[row] - before} if same and len(tops) == sum(map(bool, tops)) else {})
                before = total[row] if same else before
            decoded.append(Decoded(text, tops=tuple(tops)))
        return decoded

    def _texts(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling) -> tuple[list[Prompt], list[float]]:
        import openvino
        import openvino_genai

        longest = max(map(len, rows))
        ids = np.array([[*[0] * (longest - len(row)), *row] for row in rows], np.int64)
        mask = np.array([[*[0] * (longest - len(row)), *[1] * len(row)] for row in rows], np.int64)
        settings = openvino_genai.GenerationConfig()
        settings.max_new_tokens, settings.logprobs, settings.ignore_eos = tokens, 1, True
        settings.eos_token_id = _NO_TOKEN
        if sampling.temperature:
            settings.do_sample, settings.temperature, settings.rng_seed = True, sampling.temperature, sampling.seed
            settings.top_p, settings.top_k = 1.0, 2**31
        inputs = openvino_genai.TokenizedInputs(openvino.Tensor(ids), openvino.Tensor(mask))
        generated = self._pipeline.generate(inputs, settings)
        return [tuple(map(int, row)) for row in generated.tokens], [float(score) for score in generated.scores]
