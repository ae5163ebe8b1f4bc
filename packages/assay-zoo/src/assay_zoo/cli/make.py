"""`assay zoo init | new | readme | schema`: what makes a zoo and its submissions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from assay_zoo.cli.common import Zoo, beside, root_of


class SchemaOf(StrEnum):
    """The files that people write."""

    METADATA = "metadata"
    ZOO = "zoo"
    SCENARIO = "scenario"


def init(folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the zoo.")] = Path()) -> None:
    """Make a zoo in a folder.

    Policy, scenarios, a template for submissions, workflows; what is there already is left as it is.
    """
    from assay_zoo.template import make_zoo

    made = make_zoo(folder)
    for path in made.written:
        print(f"wrote {path}")
    for path in made.kept:
        print(f"kept  {path}")
    print("next: set licences, runtimes and limits in zoo.toml; `assay zoo new NAME` begins a submission")


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the model: letters, digits, dots and dashes.")],
    zoo: Zoo = None,
) -> None:
    """Begin a submission from the template."""
    from assay_zoo.template import new_submission

    root = root_of(zoo, Path())
    folder = beside(new_submission(root, name))
    print(f"wrote {folder}: fill in metadata.toml, add model.onnx, then")
    print(f"assay zoo data {folder} inputs.npz   # test data sets from arrays")
    print(f"assay zoo readme {folder}\nassay zoo check {folder}")


def readme(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Submission.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write [README.md of the folder].")
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Write the file that is there again; of it the sections of your own stay."),
    ] = False,
) -> None:
    """Write README.md from metadata.toml.

    What is to be said beyond that stands in sections of your own, below it.
    """
    from assay.config.toml_errors import read
    from assay.errors import NotWritable, UsageError
    from assay_zoo.artifacts.pages.template_text import left_in_metadata
    from assay_zoo.metadata import Metadata
    from assay_zoo.readme import line_above_sections, readme_text
    from assay_zoo.zoo_files import METADATA

    metadata = read(folder / METADATA).validate(Metadata)
    if left := [key for key, _ in left_in_metadata(root_of(None, folder), metadata.model_dump())]:
        sentence = f"{folder / METADATA} still has the template's words in {', '.join(dict.fromkeys(left))}"
        raise UsageError(f"{sentence}: say there what is true of this model, then write the readme of it")
    path = output or folder / "README.md"
    before = path.read_text("utf-8", "replace") if overwrite and path.is_file() else ""
    if line := line_above_sections(before, metadata):
        sentence = f"{path}, line {line}: what stands above the first section would be lost"
        raise UsageError(f"{sentence}: give it a heading of its own, or delete it")
    text = readme_text(metadata, before)
    try:
        with path.open("w" if overwrite else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise NotWritable(f"{path} exists already; replace it with --overwrite, or give another name with -o") from None
    except OSError as error:
        raise NotWritable(f"{path} cannot be written ({error.strerror})") from None
    print(f"wrote {path}")


def data(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Submission.")],
    arrays: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="A .npz with an array for each input by its name (outputs, too, if you have them); .npy for one.",
        ),
    ],
) -> None:
    """Write the next test_data_set_N, one for each file.

    Outputs that are not in the file are computed by ONNX's reference evaluator.
    """
    import tomllib

    from assay_zoo.data_set import read_arrays, write_data_set
    from assay_zoo.metadata import Metadata
    from assay_zoo.zoo_files import METADATA

    try:
        model = tomllib.loads((folder / METADATA).read_text(encoding="utf-8")).get("model")
    except (OSError, ValueError):
        model = None
    path = folder / (model if isinstance(model, str) and model else Metadata.model_fields["model"].default)
    for file in arrays:
        print(f"wrote {write_data_set(folder, path, read_arrays(file))}")


def schema(
    of: Annotated[SchemaOf, typer.Argument(metavar="WHAT", help="metadata, zoo or scenario.")] = SchemaOf.METADATA,
) -> None:
    """Print the JSON schema of a file that people write."""
    from assay_zoo.template import SCHEMAS, schema_text

    print(schema_text(SCHEMAS[of.value]), end="")
