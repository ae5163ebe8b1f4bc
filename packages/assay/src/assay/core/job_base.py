"""What jobs of several kinds have in common: one question to a worker about a case, with or without a flow."""

from __future__ import annotations

import enum
from functools import cache
from typing import Generic, TypeVar

import msgspec

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.limits import Limits


class JobKind(enum.StrEnum):
    """What is asked: the tag of each type of job, and of the result that answers it."""

    NOOP = "noop"
    INSPECT = "inspect"
    COMPUTE_REFERENCE = "compute_reference"
    VERIFY = "verify"
    MEASURE = "measure"
    COMPARE_SPEED = "compare_speed"
    ALTERNATE = "alternate"
    DERIVE_TOLERANCE = "derive_tolerance"
    PER_NODE = "per_node"
    LIST_MUTANTS = "list_mutants"
    SEARCH_INPUTS = "search_inputs"
    MUTATION_SCORE = "mutation_score"
    CHANGE = "change"
    EVALUATE_VALUES = "evaluate_values"
    VERIFY_REGION = "verify_region"
    SCREEN = "screen"
    LOAD = "load"


@cache
def kind_of(tagged: type[msgspec.Struct]) -> JobKind:
    """The tag of a type of job, or of the result that answers it."""
    return JobKind(str(tagged.__struct_config__.tag))


class RefusalCache(enum.StrEnum):
    """What a job makes of a refusal to lower that an earlier job was long in getting, where it loads no cached artifact: not looked
    at and not kept; believed; or removed and asked for again. What is refused is kept by the last two."""

    UNUSED = "unused"
    USED = "used"
    RENEWED = "renewed"


_Answer = TypeVar("_Answer", covariant=True)


class AnsweredBy(Generic[_Answer]):
    """A kind of job whose results are of this type. Nothing but the types is said here: both have one tag."""

    __slots__ = ()


class _Bounded(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What bounds any job. `scratch` is a folder the worker may write to."""

    limits: Limits = Limits()
    scratch: str = ""


class Job(_Bounded, frozen=True):
    """What every kind of job has."""

    case: Case

    @property
    def kind(self) -> JobKind:
        """The tag of its type."""
        return kind_of(type(self))

    @property
    def subject(self) -> str:
        """What is asked about the case, in keys and reports: the name of the flow, or what stands there for a job without one."""
        return str(self.kind)

    @property
    def key(self) -> str:
        """`case | subject | kind`: unique inside a run, readable in a log."""
        return f"{self.case.name}|{self.subject}|{self.kind}"


class FlowJob(Job, frozen=True):
    """A job about a model as one flow deploys it."""

    flow: Flow

    @property
    def subject(self) -> str:
        """The flow."""
        return self.flow.name


class FlowInputsJob(FlowJob, frozen=True, kw_only=True):
    """One that reads the inputs of its case. `reference_dir` is the golden folder of the reference answers ("" where the case has a
    golden of its own, or nobody has answers), `original_dir` that of the case's original."""

    reference_dir: str = ""
    original_dir: str = ""


class ModelInputsJob(Job, frozen=True, kw_only=True):
    """The same about a model that no flow deploys."""

    reference_dir: str = ""
    original_dir: str = ""


InputsJob = FlowInputsJob | ModelInputsJob
"""Those that read the inputs of their case."""


class EngineJob(FlowInputsJob, frozen=True, kw_only=True):
    """A job that lowers the model for its flow. With `reuse` an artifact that an earlier job lowered from the same, by the same
    versions, is loaded instead; `refusals` is what it makes of a refusal of an earlier job."""

    reuse: bool = False
    refusals: RefusalCache = RefusalCache.UNUSED
