"""Make this zoo: three submissions from examples/digits, their notebooks executed, checked like every other, promoted.

`python examples/zoo/build.py [FOLDER]`, some minutes on two cores. With FOLDER the zoo is made there, from nothing.
"""

from __future__ import annotations

import json
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
DIGITS = HERE.parent / "digits"
SOURCES = {"digit-classifier": "classifier", "digit-detector": "detector", "digit-segmenter": "segmenter"}
SHARED = {
    "digit-classifier": (),
    "digit-detector": ("scenes.py", "accuracy.py"),
    "digit-segmenter": ("scenes.py", "accuracy.py"),
}
SETS = ((0, 1), (1, 4))
"""Samples of the golden that become test_data_set_0 and test_data_set_1: a batch of one and one of three."""
DATASET_SCENES, DATASET_SEED = 96, 7
"""Of the zoo's own data set: other scenes than those that a submission is validated with."""
BY = "examples/zoo/build.py"

SESSION = 'session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])'
SCENES = "scenes = compose(split_digits()[1], {}, seed=2)"


def opening(*lines: str, first: str = "") -> str:
    """The first cell: what is imported, and the session."""
    return "\n".join((f"{first}import onnxruntime", *lines, "", SESSION))


READ = "from postprocess import postprocess"
MAKE = "from preprocess import preprocess"
COMPOSE = "from scenes import compose, split_digits"
HELD_OUT = f"{opening('from digits import held_out', READ, MAKE)}\ncounts, labels = held_out()"
NOTEBOOKS = {
    "digit-classifier": {
        "inference": (
            "Which digit is written in each square?",
            HELD_OUT,
            'logits = session.run(None, {"image": preprocess(counts[:8])})[0]\n'
            'print("read", postprocess(logits), "written", labels[:8])',
        ),
        "validation": (
            "The share of 450 held-out digits that are read right.",
            HELD_OUT,
            'found = postprocess(session.run(None, {"image": preprocess(counts)})[0])\n'
            'print("top1_accuracy =", float((found == labels).mean()))',
        ),
    },
    "digit-detector": {
        "inference": (
            "Which digits are in a scene, and where?",
            f"{opening(READ, MAKE, COMPOSE)}\n{SCENES.format(2)}",
            'outputs = session.run(None, {"image": preprocess(scenes.image[:, 0])})\n'
            "for found in postprocess(*outputs):\n"
            "    print([(digit, round(score, 2), [round(at) for at in box]) for digit, score, box in found])",
        ),
        "validation": (
            "Mean average precision at an overlap of one half, on 256 scenes of held-out digits.",
            opening("from accuracy import mean_average_precision", MAKE, COMPOSE, first="import json\n\n")
            + f"\n{SCENES.format(256)}",
            'found = session.run(None, {"image": preprocess(scenes.image[:, 0])})\n'
            "value = mean_average_precision(*found, scenes.boxes, scenes.classes)\n"
            'with open("metrics.json", "w") as file:\n    json.dump({"map50": value}, file)\nvalue',
        ),
    },
    "digit-segmenter": {
        "inference": (
            "Which digit inked each cell of a scene?",
            f"{opening(READ, MAKE, COMPOSE)}\n{SCENES.format(1)}",
            'mask = postprocess(session.run(None, {"image": preprocess(scenes.image[:, 0])})[0])[0]\n'
            'for row in mask:\n    print("".join("." if cell < 0 else str(cell) for cell in row))',
        ),
        "validation": (
            "Mean intersection over union on 256 scenes of held-out digits.",
            f"{opening('from accuracy import mean_iou', MAKE, COMPOSE)}\n{SCENES.format(256)}",
            'logits = session.run(None, {"image": preprocess(scenes.image[:, 0])})[0]\n'
            'print("mean_iou =", mean_iou(logits, scenes.mask))',
        ),
    },
}


def main() -> None:
    """Everything again."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    make(root)
    for name in SOURCES:
        submit(root, name)
        accept(root, name)


def make(root: Path) -> None:
    """A zoo without models: its policy, its scenarios, its data sets."""
    from assay_zoo.manifest import Manifest, write_manifest

    root.mkdir(parents=True, exist_ok=True)
    for name in ("zoo.toml", "scenarios", "README.md"):
        source, target = HERE / name, root / name
        if source != target and source.exists():
            shutil.copytree(source, target) if source.is_dir() else shutil.copyfile(source, target)
    shutil.rmtree(root / "models", ignore_errors=True)
    write_manifest(root, Manifest())
    data_sets(root / "datasets")


def data_sets(folder: Path) -> None:
    """Held-out digits, and scenes of them, with their truth: what the zoo itself runs a model on."""
    sys.path.insert(0, str(DIGITS))
    from scenes import compose, split_digits

    from assay.models.tensors import write_tensors

    _, held_out = split_digits()
    scenes = compose(held_out, DATASET_SCENES, DATASET_SEED)
    truth = {"boxes": scenes.boxes, "classes": scenes.classes.astype(np.int8), "mask": scenes.mask.astype(np.int8)}
    for name, images, labels in (
        ("digits", held_out.images[:, None], {"label": held_out.labels.astype(np.int8)}),
        ("scenes", scenes.image, truth),
    ):
        place = folder / name
        place.mkdir(parents=True, exist_ok=True)
        write_tensors(place / "inputs.safetensors", {"image": images[:, None]})
        write_tensors(place / "labels.safetensors", labels)


def submit(root: Path, name: str) -> Path:
    """submissions/NAME, whole: what its author would hand in."""
    folder = root / "submissions" / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "sources" / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for script in SHARED[name]:
        shutil.copyfile(DIGITS / script, folder / script)
    shutil.copyfile(DIGITS / "models" / f"{SOURCES[name]}.onnx", folder / "model.onnx")
    test_data_sets(folder, DIGITS / "goldens" / SOURCES[name])
    for kind, cells in NOTEBOOKS[name].items():
        executed(folder / f"{kind}.ipynb", *cells)
    claim(folder)
    return folder


def test_data_sets(folder: Path, golden: Path) -> None:
    """Held-out samples, and what ONNX's own evaluator made of them."""
    from onnx import load, numpy_helper

    from assay.models.goldens import read_golden

    graph = load(str(folder / "model.onnx")).graph
    known = read_golden(golden)
    for number, (first, last) in enumerate(SETS):
        place = folder / f"test_data_set_{number}"
        place.mkdir()
        for kind, values, samples in (("input", graph.input, known.inputs), ("output", graph.output, known.outputs)):
            for at, value in enumerate(values):
                joined = np.concatenate([sample[value.name] for sample in samples[first:last]])
                tensor = numpy_helper.from_array(joined, value.name)
                (place / f"{kind}_{at}.pb").write_bytes(tensor.SerializeToString())


def executed(path: Path, title: str, *cells: str) -> None:
    """Write a notebook with what its cells really print. Raises where one of them fails."""
    import nbformat
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    notebook = new_notebook(cells=[new_markdown_cell(title), *map(new_code_cell, cells)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, path)
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)


def claim(folder: Path) -> None:
    """Write into the metadata what the validation notebook said, and the README from the metadata."""
    from assay_zoo.metadata import Metadata
    from assay_zoo.readme import readme_text

    path = folder / "metadata.toml"
    text = path.read_text(encoding="utf-8")
    read = tomllib.loads(text)["accuracy"]["read"]
    kind, _, rest = read.partition(":")
    if kind == "file":
        file, _, key = rest.partition("#")
        value = json.loads((folder / file).read_text(encoding="utf-8"))[key]
        (folder / file).unlink()
    else:
        cells = json.loads((folder / "validation.ipynb").read_text(encoding="utf-8"))["cells"]
        printed = "".join("".join(output["text"]) for cell in cells for output in cell.get("outputs", ()))
        value = float(printed.partition(f"{rest} =")[2].split()[0])
    path.write_text(text.replace("value = 0.0\n", f"value = {value:.4f}\n"), encoding="utf-8")
    metadata = Metadata.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    (folder / "README.md").write_text(readme_text(metadata), encoding="utf-8")


def accept(root: Path, name: str) -> None:
    """The same checks as everybody's, and the promotion that follows. Leaves with the reasons where there is none."""
    from assay_zoo.decision import Answer
    from assay_zoo.inspect import inspect
    from assay_zoo.promote import promote
    from assay_zoo.services import open_tools

    with open_tools(root) as tools:
        inspection = inspect(name, root, tools)
    if inspection.decision.answer is not Answer.PROMOTE:
        checks = "\n".join(f"  {check.name}: {check.outcome.value}, {check.sentence}" for check in inspection.checks)
        sys.exit(
            f"{name}: {inspection.decision.answer.value}\n" + "\n".join(inspection.decision.reasons) + f"\n{checks}"
        )
    print(promote(root, name, inspection, BY).sentence)


if __name__ == "__main__":
    main()
