"""Record the golden data sets: held-out samples, their truth, and what ONNX's own reference says of them.

`python examples/digits/goldens.py`, under a minute. The reference evaluator runs each sample alone, in float32.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import onnx
from onnx.reference import ReferenceEvaluator
from scenes import Array, compose, split_digits

from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model

HERE = Path(__file__).parent
DIGITS, SCENES = 256, 64
"""Samples kept of the held-out digits, and scenes composed from them."""
SEED = 2
"""The seed of the training scripts' held-out scenes: these are their first."""


def record(name: str, images: Array, labels: dict[str, Array]) -> None:
    """Write `goldens/<name>` for `models/<name>.onnx`. `images` (n, *image) and `labels` (n, ...) share axis 0."""
    path = HERE / "models" / f"{name}.onnx"
    reference = ReferenceEvaluator(str(path))
    inputs = [{"image": image[None]} for image in images]
    outputs = [dict(zip(reference.output_names, reference.run(None, sample), strict=True)) for sample in inputs]
    lock = write_golden(
        HERE / "goldens" / name, model=open_model(path), inputs=inputs, outputs=outputs, labels=labels, seed=SEED,
        producer="onnx.reference", producer_version=onnx.__version__, who="examples/digits/goldens.py",
        reason="The truth and the reference outputs that the example is checked against.",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    print(f"{name}: {lock.samples} samples, {sum(file.size_bytes for file in lock.files):,} bytes")


def main() -> None:
    """Nothing recorded here was trained on: the digits were split before any scene was composed."""
    _, held_out = split_digits()
    scenes = compose(held_out, SCENES, SEED)
    record("classifier", held_out.images[:DIGITS, None], {"label": held_out.labels[:DIGITS]})
    record("detector", scenes.image, {"boxes": scenes.boxes, "classes": scenes.classes})
    record("segmenter", scenes.image, {"mask": scenes.mask})


if __name__ == "__main__":
    main()
