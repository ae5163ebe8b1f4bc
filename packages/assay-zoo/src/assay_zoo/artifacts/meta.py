"""metadata.toml: checked against the schema, the folder, and what the zoo has already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from assay.config.toml_errors import BadToml, TomlFile, nearest, read
from assay_zoo.accuracy.metric import unreadable_place
from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.pages.alike import odd_word
from assay_zoo.conflicts import not_newer, other_contents
from assay_zoo.manifest import read_manifest
from assay_zoo.metadata import Claim, Metadata
from assay_zoo.policy import Scenario
from assay_zoo.repository import read_scenarios
from assay_zoo.submission import SubmissionContext
from assay_zoo.zoo_files import METADATA

_LARGEST = 999_999_999
"""Of a part of a version."""
LONGEST_BYTES = 1 << 20
DTYPES = (
    "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "bool", "string", "complex64", "complex128", "int4", "uint4", "float8_e4m3fn", "float8_e5m2", "sequence", "optional", "map",
)  # fmt: skip


@dataclass(frozen=True)
class MetadataText:
    """The file as far as it can be read: `trouble` is the sentence for one that cannot."""

    text: TomlFile | None = None
    trouble: str = ""
    line: int = 0

    def line_of(self, *place: str | int) -> int:
        """The line of a key, 0 for none."""
        return self.text.line(*place) if self.text else 0


def read_metadata_text(folder: Path) -> MetadataText:
    """metadata.toml as TOML, whatever it says; nothing where there is none."""
    path = folder / METADATA
    if not path.is_file():
        return MetadataText()
    if path.stat().st_size > LONGEST_BYTES:
        return MetadataText(
            trouble=f"{METADATA} is larger than {LONGEST_BYTES} bytes: it describes the model, it does not hold it"
        )
    try:
        return MetadataText(read(path))
    except BadToml as error:
        return MetadataText(trouble=error.about(METADATA), line=error.line)


def metadata_findings(place: SubmissionContext, text: MetadataText) -> Iterator[Finding]:
    """All that is wrong with it, in the order of its lines for what the schema asks."""
    if text.trouble:
        yield Finding(sentence=text.trouble, path=METADATA, line=text.line)
    if text.text is None:
        return
    for line, sentence in text.text.mistakes(Metadata):
        yield Finding(sentence=f"{METADATA} {sentence}", path=METADATA, line=line)
    if place.metadata is not None:
        yield from _meaning(place, place.metadata, text)


def _meaning(place: SubmissionContext, metadata: Metadata, text: MetadataText) -> Iterator[Finding]:
    def at(sentence: str, *key: str | int) -> Finding:
        return Finding(sentence=f"{METADATA} {sentence}", path=METADATA, line=text.line_of(*key))

    if place.name and metadata.name != place.name:
        yield at(f"is of {metadata.name!r}, and its folder is {place.name!r}: give both one name", "name")
    scenarios = read_scenarios(place.root)
    if metadata.scenario not in scenarios:
        known = f"; this zoo has {', '.join(sorted(scenarios)) or 'none'}"
        near = nearest(metadata.scenario, scenarios) or known
        yield at(f"names the scenario {metadata.scenario!r}, which this zoo does not have{near}", "scenario")
    elif (scenario := scenarios[metadata.scenario]).metric != metadata.accuracy.metric:
        claim = f"claims {metadata.accuracy.metric!r}, and scenario {scenario.name!r} asks for {scenario.metric!r}"
        yield at(f"{claim}: claim that", "accuracy", "metric")
    else:
        yield from _claim(scenario, metadata.accuracy, at)
    yield from _written_names(metadata, at)
    for key in ("model", "preprocessing", "postprocessing", "inference", "validation"):
        path = PurePosixPath(getattr(metadata, key))
        if path.is_absolute() or ".." in path.parts:
            yield at(f"says {key} = {str(path)!r}, which lies outside of the submission", key)
    for kind in ("inputs", "outputs"):
        names = [port.name for port in getattr(metadata, kind)]
        for number, port in enumerate(getattr(metadata, kind)):
            if port.dtype not in DTYPES:
                near = nearest(port.dtype, DTYPES) or f"; known are {', '.join(DTYPES)}"
                yield at(f"says dtype {port.dtype!r} for {port.name!r}, which is none{near}", kind, number, "dtype")
            if port.name in names[:number]:
                yield at(f"names {port.name!r} twice in {kind}", kind, number, "name")
    if all(int(part) == _LARGEST for part in metadata.version.split(".")):
        yield at(f"says version {metadata.version!r}, above which no other can be: begin with a small one", "version")
    yield from _version(place, metadata, text.line_of("version"))


def _written_names(metadata: Metadata, at: Callable[..., Finding]) -> Iterator[Finding]:
    """Of people and things, and where the metric is reported."""
    texts = [("contributors", name, False) for name in metadata.contributors]
    texts += [("title", metadata.title, True), *(("tags", tag, True) for tag in metadata.tags)]
    for key, text, science in texts:
        if word := odd_word(text, science=science):
            yield at(
                f"has {word!a} in {key}, with letters of another alphabet that look like these: write it in one", key
            )
        if len(text.splitlines()) > 1:
            yield at(f"has more than one line in {key}, which is a name: write it in one", key)
    if metadata.inference == metadata.validation:
        yield at(f"has {metadata.inference!r} for inference and validation: they are two notebooks", "inference")
    if problem := unreadable_place(metadata.accuracy.read):
        yield at(f"says {problem}", "accuracy", "read")


def _claim(scenario: Scenario, claim: Claim, at: Callable[..., Finding]) -> Iterator[Finding]:
    """What would let a poor model pass: the other direction, an impossible value, a tolerance that takes everything."""
    if claim.direction != scenario.direction:
        text = f"says that {claim.direction} is better, and for scenario {scenario.name!r} {scenario.direction} is"
        yield at(f"{text}: leave the direction out or correct it", "accuracy", "direction")
    low, high = scenario.range
    if not low <= claim.value <= high:
        text = f"claims {claim.metric} = {claim.value:g}, and in scenario {scenario.name!r} it lies between {low:g} and {high:g}"
        yield at(text, "accuracy", "value")
    if claim.tolerance > scenario.largest_tolerance:
        text = f"asks for a tolerance of {claim.tolerance:g}; scenario {scenario.name!r} allows {scenario.largest_tolerance:g}"
        yield at(text, "accuracy", "tolerance")


def _version(place: SubmissionContext, metadata: Metadata, line: int) -> Iterator[Finding]:
    """A version is accepted once: what is served under it never changes, none comes after a higher one, and none
    comes back that was withdrawn."""
    entry = read_manifest(place.root).models.get(metadata.name)
    if entry is None or place.intake is None:
        return
    version = metadata.version
    if problem := not_newer(entry, version) or other_contents(entry, version, place.intake.digest):
        yield Finding(sentence=f"{METADATA} says {problem}", path=METADATA, line=line)
