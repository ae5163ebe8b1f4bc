"""Right pairs of a language model and a flow or service, and how many are called wrong.

python benchmarks/right_pairs.py [--models N] [--first SEED] [--flow NAME ...] [--servers N]

Each seed draws the weights of a small model (rotary or learned positions), prompts, and the settings of servers, some of which compute in
a shorter type and say so. Engines, libraries that generate (of rotary models those that read checkpoints and exported programs, too) and
services are checked as a user does it. No time is measured: any machine will do.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import load_file, save_file

import assay
from assay.testing.language_server.app import Settings
from assay.testing.language_server.running import running

HERE = Path(__file__).parents[1] / "examples" / "language-model"
sys.path.append(str(HERE))
TOKENIZER, TEMPLATE = HERE / "tokenizer.json", HERE / "chat_template.jinja"
FLOWS = ("onnxruntime", "onnxruntime-basic", "reference", "mnn-f32")
CHECKPOINTS = {
    "transformers-sdpa": ("float32", "sdpa"),
    "transformers-plain": ("float32", "eager"),
    "transformers-half": ("float16", "sdpa"),
    "transformers-brain": ("bfloat16", "eager"),
}
"""Type and attention of transformers on a folder."""
GENERATING = ("genai", "openvino-genai", "openvino-genai-bf16")
"""Libraries that read any of these models."""
EXPORTED = ("exported-eager", "exported-inductor", "exported-executorch", "transformers-compiled")
"""Programs of a checkpoint; all but the first take half a minute and more to build."""
SERVED = (*("",) * 10, *("float16",) * 3, *("bfloat16",) * 3)
"""The precisions of the servers: "" is float32."""
_DRAWS = 60
_SLOW = 8
"""One seed of so many has the programs that take long to build."""
Random = np.random.Generator


def drawn_weights(name: str, draw: Random) -> dict[str, np.ndarray[Any, Any]]:
    """Of the shapes and about the sizes of the trained ones, each matrix larger or smaller by up to 2."""
    scales = {}
    for key, tensor in load_file(HERE / f"{name}.safetensors").items():
        size = draw.normal(0, float(tensor.astype(np.float32).std()) * 2 ** draw.uniform(-1, 1), tensor.shape)
        scales[key] = (size + (float(tensor.astype(np.float32).mean()) if tensor.ndim == 1 else 0)).astype(np.float16)
    return scales


def write_model(name: str, weights: dict[str, np.ndarray[Any, Any]], path: Path) -> None:
    """The exported graph with these weights in place of the trained ones, found by their values."""
    trained = {key: array.astype(np.float32) for key, array in load_file(HERE / f"{name}.safetensors").items()}
    model = onnx.load(HERE / "models" / f"{name}.onnx")
    replaced = set()
    for initializer in model.graph.initializer:
        values = numpy_helper.to_array(initializer)
        for key, weight in trained.items():
            for turned in (False, True):
                if np.array_equal(values, weight.T if turned else weight):
                    new = weights[key].astype(np.float32)
                    new = np.ascontiguousarray(new.T if turned else new)
                    initializer.CopyFrom(numpy_helper.from_array(new, initializer.name))
                    replaced.add(key)
    assert replaced == trained.keys(), trained.keys() - replaced
    onnx.save(model, path)


def drawn_prompts(draw: Random) -> list[list[int]]:
    return [draw.integers(0, 512, int(draw.integers(4, 14))).tolist() for _ in range(int(draw.integers(2, 4)))]


def toml(model: Path, named: Sequence[str], addresses: dict[str, tuple[str, str]], folder: Path) -> str:
    parts = ["[flow.onnxruntime-basic]\nbackend = 'onnxruntime'\noptions = { optimization = 'basic' }\n"]
    parts.append(f"[flow.genai]\nbackend = 'onnxruntime-genai'\noptions = {{ draws = {_DRAWS} }}\n")
    for flow, (dtype, attention) in CHECKPOINTS.items():
        options = f"checkpoint = '{folder}', dtype = '{dtype}', attention = '{attention}', draws = {_DRAWS}"
        parts.append(f"[flow.{flow}]\nbackend = 'transformers'\nprecision = '{dtype}'\noptions = {{ {options} }}\n")
    for flow in EXPORTED:
        kind = flow.partition("-")[2]
        backend, said = (
            ("transformers", "compiled = true") if kind == "compiled" else ("exported-decoder", f"compiler = '{kind}'")
        )
        parts.append(f"[flow.{flow}]\nbackend = '{backend}'\noptions = {{ {said}, checkpoint = '{folder}' }}\n")
    for flow, (address, precision) in addresses.items():
        options = f"url = '{address}/v1', tokenizer = '{TOKENIZER}', chat_template = '{TEMPLATE}', draws = {_DRAWS}"
        said = f"precision = '{precision}'\n" if precision else ""
        parts.append(f"[flow.{flow}]\nbackend = 'openai'\n{said}options = {{ {options} }}\n")
    use = ", ".join(f"'{flow_name}'" for flow_name in (*named, *addresses))
    return f"[[model]]\npath = '{model}'\n[flows]\nuse = [{use}]\n" + "\n".join(parts)


def libraries(name: str, weights: dict[str, np.ndarray[Any, Any]], folder: Path, slow: bool) -> tuple[str, ...]:
    """Flows of those that generate, where this model can be had as they read it."""
    if name != "rotary":
        return GENERATING
    from checkpoints import write_folder

    write_folder(weights, folder)
    return (*GENERATING, *CHECKPOINTS, *(EXPORTED if slow else EXPORTED[:1]))


def pairs(seed: int, folder: Path, flows: Sequence[str], servers: int) -> list[tuple[str, str, str, float]]:
    """Flow, outcome, sentence and budget of each pair of this seed."""
    draw = np.random.default_rng(seed)
    name = ("rotary", "learned")[seed % 2]
    weights = drawn_weights(name, draw)
    model, stored = folder / f"{name}{seed}.onnx", folder / "weights.safetensors"
    write_model(name, weights, model)
    save_file(weights, stored)
    prompts = folder / "prompts.jsonl"
    prompts.write_text("".join(json.dumps(prompt) + "\n" for prompt in drawn_prompts(draw)), "utf-8")
    with ExitStack() as stack:
        addresses = {}
        for number, precision in enumerate(SERVED[:servers]):
            settings = Settings(
                stored,
                TOKENIZER,
                faults=frozenset({precision} - {""}),
                batch=int(draw.integers(1, 9)),
                delay_s=float(draw.choice([0.0, 0.002])),
                prefixes=bool(draw.integers(0, 2)),
            )
            addresses[f"served-{number}"] = (stack.enter_context(running(settings)), precision)
        config = folder / "assay.toml"
        flows = (*flows, *libraries(name, weights, folder / "checkpoint", slow=seed % _SLOW == 0))
        config.write_text(toml(model, flows, addresses, folder / "checkpoint"), "utf-8")
        checked = assay.check(
            model,
            config=config,
            flows=(*flows, *addresses),
            inputs=prompts,
            measure=False,
            seed=seed,
            history=folder / ".assay",
            workers=1,
        )
    rows = []
    for result in checked.results:
        if result.kind == "verify":
            used = max(
                (part.metrics.get("budget_used", 0.0) for part in getattr(result, "comparisons", ())), default=0.0
            )
            precision = addresses.get(result.flow, ("", ""))[1]
            rows.append((f"{result.flow} {precision}".strip(), str(result.outcome), result.detail, used))
    return rows


def main() -> None:
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--models", type=int, default=4)
    said.add_argument("--first", type=int, default=0)
    said.add_argument("--flow", action="append", default=[], help=f"engines beside the servers [{', '.join(FLOWS)}]")
    said.add_argument("--servers", type=int, default=len(SERVED), help="how many, at most %(default)s")
    asked = said.parse_args()
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    wrong, began = 0, time.monotonic()
    for seed in range(asked.first, asked.first + asked.models):
        with tempfile.TemporaryDirectory(prefix="right-pairs-") as folder:
            for flow, outcome, detail, used in pairs(seed, Path(folder), asked.flow or FLOWS, asked.servers):
                counts[flow, outcome] += 1
                wrong += outcome == "mismatch"
                if outcome != "ok":
                    print(f"seed {seed} {flow}: {outcome} ({used:.3g}) {detail[:300]}", flush=True)
        done = sum(counts.values())
        print(f"seed {seed}: {done} pairs, {wrong} called wrong, {time.monotonic() - began:.0f} s", flush=True)
    for (flow, outcome), count in sorted(counts.items()):
        print(f"{flow:24} {outcome:14} {count}")


if __name__ == "__main__":
    main()
