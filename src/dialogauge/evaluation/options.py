"""What a run depends on beside turns and metrics: one set of options for `evaluate`, `compare`, `correlate`,
`sensitivity` and the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

from dialogauge.corpus.corpus import Corpus
from dialogauge.corpus.frames import CorpusLike, as_source
from dialogauge.corpus.load import Loading
from dialogauge.engines.make import MOST_WORKERS, EngineChoice, check_engine
from dialogauge.errors import COUNT, InputError, check_number, check_seed, check_share, check_whole, unknown
from dialogauge.metrics.base import AnyMetric
from dialogauge.metrics.default_set import DEFAULT
from dialogauge.metrics.registry import Request, parse_requests
from dialogauge.text.fitting import named_language

if TYPE_CHECKING:
    from dialogauge.endpoint.endpoint import AskOptions

MOST_AT_ONCE, LONGEST_WAIT = 1000, 86400.0
Evaluating = TypeVar("Evaluating", bound=Callable[..., Any])
Metrics = str | AnyMetric | Request | Iterable[str | AnyMetric | Request]
"""Metrics as on the command line, "bleu,distinct.1", or a sequence of such texts and of Metric objects."""


@dataclass(frozen=True)
class Settings:
    """What intervals and tests depend on beside the data: same data, same settings, same numbers."""

    seed: int = 0
    """Of everything that is drawn by chance."""
    resamples: int = 1000
    """Of the bootstrap and of tests by permutation."""
    confidence: float = 0.95
    """Of intervals."""

    def __post_init__(self) -> None:
        check_share("confidence", self.confidence)
        check_whole("resamples", self.resamples, 1, COUNT)
        check_seed(self.seed)


@dataclass(frozen=True)
class RunOptions(Settings):
    """The keywords that `evaluate`, `compare`, `correlate` and `sensitivity` have in common.

    Examples:
        >>> import dialogauge
        >>> options = {"systems": ["good"], "resamples": 100, "confidence": 0.9}
        >>> dialogauge.evaluate("examples/everyday.jsonl", "length", **options).settings
        Settings(seed=0, resamples=100, confidence=0.9)
    """

    systems: Sequence[str] | None = None
    """Only these systems, in this order; all of them by default."""
    real: CorpusLike | None = None
    """Real conversations, to whose responses distances (`fbd`, `prd`, `mmd`, `prdc`) hold each system's; without them
    they take the corpus's own references."""
    compat: str | None = None
    """The paper whose own recipes are taken instead of ours: "fbd-paper"."""
    encoder: str | None = None
    """For all metrics given by name that take one and have none of their own: "minilm", "roberta-base", a directory,
    "static:glove.txt"."""
    dtype: str | None = None
    """The encoder's numbers: "float32" or "bfloat16"."""
    language: str | None = None
    """That of the texts, as a code ("zh") or a name; by default they tell it. It says how metrics given by name split
    texts, and which metrics were made for it."""
    cache: bool = True
    """Whether what is encoded is kept on disk."""
    progress: bool = False
    """Whether stderr shows how far the run has come."""
    offline: bool = False
    """Whether no endpoint is asked: answers that are not kept are an error."""
    max_requests: int | None = None
    """The most requests that are sent to endpoints, repeated attempts included."""
    concurrency: int = 16
    """The most requests that are under way at once."""
    timeout: float = 120.0
    """Seconds that an endpoint has for one answer."""
    workers: int | None = None
    """How many processes measure files of more than 200,000 turns; by default one for each core. Numbers do not depend
    on it."""
    engine: str | None = None
    """Who measures such files: "here", "processes" (the default), "ray" (the cluster of RAY_ADDRESS, else one of its
    own on this machine) or "ray://HOST:PORT" (a cluster that runs)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("concurrency", self.concurrency, 1, MOST_AT_ONCE)
        check_number("timeout", self.timeout, 0.001, LONGEST_WAIT)
        if self.workers is not None:
            check_whole("workers", self.workers, 1, MOST_WORKERS)
        check_engine(self.engine)
        if self.language is not None:
            named_language(self.language)
        if self.max_requests is not None:
            check_whole("max_requests", self.max_requests, 0, COUNT)
        object.__setattr__(self, "systems", chosen_systems(self.systems))

    @property
    def settings(self) -> Settings:
        return Settings(self.seed, self.resamples, self.confidence)

    @property
    def engine_choice(self) -> EngineChoice:
        return EngineChoice(self.engine, self.workers)

    @property
    def asking(self) -> AskOptions:
        """How endpoints may be asked."""
        from dialogauge.endpoint.endpoint import AskOptions

        return AskOptions(self.offline, self.max_requests, self.concurrency, self.timeout, progress=self.progress)

    def requests(self, metrics: Metrics | None) -> list[Request]:
        """The metrics asked for, or else the default set, with the encoder and the language of the run."""
        wanted = DEFAULT if metrics is None else metrics
        shared = {"encoder": self.encoder, "dtype": self.dtype, "language": self.language}
        return parse_requests(wanted, self.compat, shared)

    def real_turns(self) -> Corpus | Loading | None:
        return None if self.real is None else as_source(self.real)


class RunKeywords(TypedDict, total=False):
    """`RunOptions` as keywords."""

    seed: int
    resamples: int
    confidence: float
    systems: Sequence[str] | None
    real: CorpusLike | None
    compat: str | None
    encoder: str | None
    dtype: str | None
    language: str | None
    cache: bool
    progress: bool
    offline: bool
    max_requests: int | None
    concurrency: int
    timeout: float
    workers: int | None
    engine: str | None


def chosen_systems(given: Any, option: str = "systems") -> tuple[str, ...] | None:
    """The systems that a caller names; refuses what is no list of names."""
    if given is None:
        return None
    if isinstance(given, str):
        raise InputError(f"{option}: expected a list of names, found the text {given!r}")
    names = tuple(given) if isinstance(given, Iterable) else ()
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong or not names:
        raise InputError(f"{option}: expected a list of names, found {shortened(wrong[0] if wrong else given)}")
    return names


def takes_run_options(function: Evaluating) -> Evaluating:
    """For a function of `**options: Unpack[RunKeywords]`: `help` shows each option, and a keyword that is not known is
    answered with those most like it."""
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    shared = [
        inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(RunOptions)
    ]
    known = {each.name for each in (*own, *shared)}

    @wraps(function)
    def checked(*given: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                raise unknown("option", name, known)
        return function(*given, **options)

    checked.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return cast(Evaluating, checked)
