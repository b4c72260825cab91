"""From names, as in `bleu,bertscore[idf=true].precision`, to metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, replace
from difflib import get_close_matches
from importlib import import_module
from reprlib import repr as shortened
from typing import Any, Literal, get_args, get_origin, get_type_hints

from dialogauge.errors import LARGEST, Caveat, InputError, check_number, unknown
from dialogauge.metrics.base import GROUP_NAMES, AnyMetric, Metric, options, spell
from dialogauge.metrics.checking import metric_faults
from dialogauge.metrics.default_set import DEFAULT, DEFAULT_SET
from dialogauge.metrics.function import function_in_file
from dialogauge.plugins import PlugIns

BUILT_IN = {
    "bleu": "dialogauge.metrics.overlap.bleu:Bleu",
    "chrf": "dialogauge.metrics.overlap.chrf:Chrf",
    "rouge_l": "dialogauge.metrics.overlap.rouge_l:RougeL",
    "meteor": "dialogauge.metrics.overlap.meteor:Meteor",
    "distinct": "dialogauge.metrics.dialogue.distinct:Distinct",
    "length": "dialogauge.metrics.dialogue.length:Length",
    "embedding_average": "dialogauge.metrics.embedding.word_vectors:EmbeddingAverage",
    "embedding_greedy": "dialogauge.metrics.embedding.word_vectors:EmbeddingGreedy",
    "embedding_extrema": "dialogauge.metrics.embedding.word_vectors:EmbeddingExtrema",
    "bertscore": "dialogauge.metrics.embedding.bertscore:BertScore",
    "gauge": "dialogauge.metrics.learned.gauge:Gauge",
    "ruber": "dialogauge.metrics.learned.ruber:Ruber",
    "ruber_unreferenced": "dialogauge.metrics.learned.ruber:RuberUnreferenced",
    "ruber_referenced": "dialogauge.metrics.learned.ruber:RuberReferenced",
    "entailment": "dialogauge.metrics.learned.entailment:Entailment",
    "likelihood": "dialogauge.metrics.likelihoods.likelihood:Likelihood",
    "perplexity": "dialogauge.metrics.likelihoods.likelihood:Perplexity",
    "pmi": "dialogauge.metrics.likelihoods.likelihood:Pmi",
    "fed": "dialogauge.metrics.likelihoods.fed:Fed",
    "fed_dialogue": "dialogauge.metrics.likelihoods.fed:FedDialogue",
    "semantic_similarity": "dialogauge.metrics.dialogue.semantic:SemanticSimilarity",
    "semantic_distance": "dialogauge.metrics.dialogue.semantic:SemanticDistance",
    "fbd": "dialogauge.metrics.distance.fbd:Fbd",
    "prd": "dialogauge.metrics.distance.prd:Prd",
    "mmd": "dialogauge.metrics.distance.mmd:Mmd",
    "prdc": "dialogauge.metrics.distance.prdc:Prdc",
    "mauve": "dialogauge.metrics.distance.mauve:Mauve",
    "column": "dialogauge.metrics.dialogue.length:Column",
    "self_repetition": "dialogauge.metrics.dialogue.self_repetition:SelfRepetition",
    "echo": "dialogauge.metrics.dialogue.self_repetition:Echo",
    "question_rate": "dialogauge.metrics.dialogue.turn_taking:QuestionRate",
    "turns": "dialogauge.metrics.dialogue.turn_taking:Turns",
    "judge": "dialogauge.metrics.judge.judge:ModelJudge",
    "talk_share": "dialogauge.metrics.dialogue.turn_taking:TalkShare",
    "entropy": "dialogauge.metrics.dialogue.entropy:Entropy",
    "compression": "dialogauge.metrics.dialogue.compression:Compression",
    "self_bleu": "dialogauge.metrics.dialogue.self_bleu:SelfBleu",
    "topic_drift": "dialogauge.metrics.dialogue.topic_drift:TopicDrift",
    "self_contradiction": "dialogauge.metrics.dialogue.contradiction:SelfContradiction",
    "fact_consistency": "dialogauge.metrics.dialogue.contradiction:FactConsistency",
    "pass_k": "dialogauge.metrics.dialogue.pass_k:PassK",
}
COMPAT = {
    "fbd-paper": {
        "bleu": "dialogauge.metrics.fbd_paper.overlap:PaperBleu",
        "rouge_l": "dialogauge.metrics.fbd_paper.rouge_l:PaperRougeL",
        "meteor": "dialogauge.metrics.fbd_paper.overlap:PaperMeteor",
        "embedding_average": "dialogauge.metrics.fbd_paper.vectors:PaperAverage",
        "embedding_greedy": "dialogauge.metrics.fbd_paper.vectors:PaperGreedy",
        "embedding_extrema": "dialogauge.metrics.fbd_paper.vectors:PaperExtrema",
        "fbd": "dialogauge.metrics.fbd_paper.vectors:PaperFbd",
        "prd": "dialogauge.metrics.fbd_paper.vectors:PaperPrd",
    },
}
"""Other people's recipes for metrics of ours, by the name that `--compat` gives them."""
ALL = "all"
GROUPS = (DEFAULT, ALL, *GROUP_NAMES)
"""What stands for several metrics at once."""
UNGROUPED = {"column", "judge", "pass_k"}
"""Metrics that measure nothing until they are given an option."""
PLUG_INS: PlugIns[type[AnyMetric]] = PlugIns("metric", "dialogauge.metrics", (*BUILT_IN, *GROUPS), metric_faults)

REQUEST = re.compile(r"(?P<name>[^\[\].,=]+)(\[(?P<options>[^\[\]]*)\])?(\.(?P<part>[^\[\],=]+))?")
COMMA_OUTSIDE_BRACKETS = re.compile(r",(?![^\[\]]*\])")


@dataclass(frozen=True)
class Request:
    """What the user asked for: a metric, and one of its parts or (None) all of it.

    `compat` names the recipe that the metric follows; None for our own, also where another one was asked for
    that has no such metric.
    """

    metric: AnyMetric
    part: str | None = None
    compat: str | None = None
    group: str | None = field(default=None, compare=False)
    """The group that it was asked for by, and so left out where it cannot be measured; None where it is named."""

    @property
    def label(self) -> str:
        """The metric's name with the options that differ from their defaults."""
        return self.metric.label

    @property
    def name(self) -> str:
        """The label, with the part where one was asked for."""
        return f"{self.label}.{self.part}" if self.part else self.label


def known_names() -> list[str]:
    """Every metric there is: ours, then those other packages add."""
    return [*BUILT_IN, *PLUG_INS.names()]


def known_name(text: str) -> str | None:
    """The metric that is called so, or so but for case and hyphens: `BLEU`, `ROUGE-L`."""
    return _alike(text, BUILT_IN) or _alike(text, PLUG_INS.names())


def _alike(text: str, names: Iterable[str]) -> str | None:
    alike = [name for name in names if _plain(name) == _plain(text)]
    return text if text in alike else alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    return name.casefold().replace("-", "_")


def names_metrics(text: str) -> bool:
    """Whether the text is a list of metrics, as far as its first name tells."""
    match = REQUEST.match(text)
    name = "" if match is None else match["name"].strip()
    return (known_name(name) or _alike(name, GROUPS)) is not None


def metric_groups() -> dict[str, list[str]]:
    """The metrics of each group: of the folder of its name, and of other packages that say so."""
    homes: dict[str, str | None] = {
        name: target.split(".")[2] for name, target in BUILT_IN.items() if name not in UNGROUPED
    }
    for name, cls in PLUG_INS.load()[0].items():
        if all(option.default is not MISSING for option in options(cls).values()):
            homes[name] = cls.group
    folders = {group: [name for name, home in homes.items() if home == group] for group in GROUP_NAMES}
    return {DEFAULT: list(DEFAULT_SET), ALL: list(homes), **folders}


def metric_class(name: str, compat: str | None = None) -> type[AnyMetric]:
    """The class behind a name, imported only now: by the recipes of `compat` where they have such a metric."""
    target = _variants(compat).get(name) or BUILT_IN.get(name)
    if target:
        module, _, attribute = target.partition(":")
        return getattr(import_module(module), attribute)  # type: ignore[no-any-return]
    found = PLUG_INS.get(name)
    if found is None:
        groups = get_close_matches(name.casefold(), GROUPS, n=1)  # most names are of metrics: only what is near
        raise unknown("metric", name, [*known_names(), *groups])
    return found


def metric_classes() -> tuple[dict[str, type[AnyMetric]], list[Caveat]]:
    """Every metric there is by name, and a caveat for each of another package that cannot be used."""
    added, caveats = PLUG_INS.load()
    return {name: metric_class(name) for name in BUILT_IN} | added, caveats


def _variants(compat: str | None) -> dict[str, str]:
    if compat is None:
        return {}
    if compat not in COMPAT:
        raise unknown("compat", compat, COMPAT)
    return COMPAT[compat]


def parse_requests(
    wanted: str | AnyMetric | Request | Iterable[str | AnyMetric | Request],
    compat: str | None = None,
    defaults: Mapping[str, str | None] | None = None,
    known: Mapping[str, Request] | None = None,
) -> list[Request]:
    """A comma-separated string, or a sequence of such strings and of metrics, in the order given. A group stands for
    its metrics, and `FILE.py:FUNCTION` runs that file.

    Names stand for the recipes of `compat` where they have such a metric; metrics given as objects stay what
    they are. `defaults` are options (the encoder, say) for every named metric that takes them from the run and is not
    given its own.
    `known` are requests by their labels, which come before all others.
    """
    _variants(compat)
    given = {name: value for name, value in (defaults or {}).items() if value is not None}
    if isinstance(wanted, str | bytes | Metric | Request) or not isinstance(wanted, Iterable):
        wanted = [wanted]
    requests: list[Request] = []
    for item in wanted:
        if isinstance(item, Request):
            requests.append(item)
        elif isinstance(item, Metric):
            _refuse_faulty(type(item))
            requests.append(Request(item))
        elif not isinstance(item, str):
            raise _no_metric(item)
        else:
            pieces = (text.strip() for text in COMMA_OUTSIDE_BRACKETS.split(item))
            for text in filter(None, pieces):
                requests += _parse_text(text, compat, given, known or {})
    if not requests:
        raise InputError(f"no metric named; known: {', '.join(known_names())}")
    metrics: dict[str, AnyMetric] = {}
    for request in requests:
        if metrics.setdefault(request.label, request.metric) != request.metric:
            raise InputError(f"two different metrics are called {request.label}; ask for them one at a time")
    named = {request for request in requests if request.group is None}
    return list(dict.fromkeys(replace(each, group=None) if each in named else each for each in requests))


def _parse_text(
    text: str, compat: str | None, defaults: Mapping[str, str], known: Mapping[str, Request]
) -> list[Request]:
    """What stands between two commas: a metric, or a group, of which only the `known` ones count where any are."""
    if text in known:
        return [known[text]]
    if function := function_in_file(text):
        return [Request(function)]
    group = _alike(text, GROUPS)
    if group is None:
        return [parse_request(text, compat, defaults)]
    members = list(DEFAULT_SET) if group == DEFAULT else metric_groups()[group]
    found = (
        [request for request in known.values() if request.metric.name in members]
        if known
        else [parse_request(name, compat, defaults) for name in members]
    )
    return [replace(request, group=group) for request in found]


def _no_metric(item: Any) -> InputError:
    hint = ""
    if isinstance(item, type) and issubclass(item, Metric):
        hint = f"; a metric is made of its class: {item.__name__}()"
    elif callable(item):
        hint = '; a metric is made of a function by dialogauge.metric("NAME", FUNCTION)'
    return InputError(f'metrics: expected names, as in "bleu,distinct", or metrics, found {shortened(item)}{hint}')


def _refuse_faulty(cls: type[AnyMetric]) -> None:
    """Refuses a metric object whose class, made by a user, lacks something."""
    if not cls.__module__.startswith("dialogauge.") and (faults := metric_faults(getattr(cls, "name", ""), cls)):
        raise InputError(f"the metric {cls.__qualname__} cannot be used: {'; '.join(faults)}; see docs/plug-ins.md")


def parse_request(text: str, compat: str | None = None, defaults: Mapping[str, str] | None = None) -> Request:
    """One name with optional options and part: `bertscore[idf=true].precision`."""
    match = REQUEST.fullmatch(text)
    if not match:
        raise InputError(
            f"cannot read the metric {text!r}; expected NAME, NAME[OPTION=VALUE,...], NAME.PART or FILE.py:FUNCTION"
        )
    name = known_name(match["name"]) or match["name"]
    if _alike(name, GROUPS):
        raise InputError(f"{text}: {name} is a group of metrics, and takes no options and no part")
    cls = metric_class(name, compat)
    part = match["part"]
    if part is not None and part not in cls.parts:
        raise _unknown_part(cls, part)
    recipe = compat if name in _variants(compat) else None
    return Request(build(cls, match["options"] or "", defaults), part, recipe)


def _unknown_part(cls: type[AnyMetric], part: str) -> InputError:
    """Says what the main value is, since many take it for a part: `distinct.2`."""
    name = cls.name
    if part.casefold() == cls.main:
        others = ", ".join(f"{name}.{known}" for known in cls.parts) or "none"
        return InputError(f"{name}.{part} is {name} itself: ask for {name}; its parts: {others}")
    if cls.parts:
        return unknown(f"part of {name}", part, cls.parts)
    itself = f", which is {name}-{cls.main}" if cls.main else ""
    return InputError(f"unknown part of {name} {part!r}; it has no parts: ask for {name}{itself}")


def build(cls: type[AnyMetric], text: str, defaults: Mapping[str, str] | None = None) -> AnyMetric:
    """A metric with options given as `key=value,key=value`."""
    choices = options(cls)
    given = {
        name: value
        for name, value in (defaults or {}).items()
        if name in choices and choices[name].metadata.get("of_run", True)
    }
    for item in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals:
            raise InputError(f"option {item!r} of {cls.name}: expected {key}=VALUE")
        if key not in choices:
            raise unknown(f"option of {cls.name}", key, choices)
        given[key] = value
    hints = get_type_hints(cls) if given else {}
    values = {
        choices[key].name: _convert(value, hints[choices[key].name], f"option {key} of {cls.name}")
        for key, value in given.items()
    }
    return cls(**values)


def describe_options(cls: type[AnyMetric]) -> str:
    """The options with their defaults, as `lowercase=false`; nothing follows the sign where none is set."""
    return ", ".join(
        f"{name}={'' if field.default in (MISSING, None) else spell(field.default)}"
        for name, field in options(cls).items()
    )


def _convert(text: str, kind: Any, what: str) -> Any:
    if type(None) in get_args(kind):
        if text.lower() in ("none", "all"):
            return None
        (kind,) = (choice for choice in get_args(kind) if choice is not type(None))
    if kind is bool:
        return _choose(text.lower(), {"true": True, "yes": True, "false": False, "no": False}, what)
    if get_origin(kind) is Literal:
        return _choose(text, {str(choice): choice for choice in get_args(kind)}, what)
    try:
        value = kind(text)
    except ValueError:
        raise InputError(f"{what}: expected {kind.__name__}, found {text!r}") from None
    if isinstance(value, int | float):
        check_number(what, value, -LARGEST, LARGEST)
    return value


def _choose(text: str, choices: dict[str, Any], what: str) -> Any:
    if text not in choices:
        raise InputError(f"{what}: expected one of {', '.join(choices)}, found {text!r}")
    return choices[text]
