"""dialogauge measures how good a dialogue system's responses are, and how far each measure can be trusted.

import dialogauge

corpus = dialogauge.load("responses.jsonl")
result = dialogauge.evaluate(corpus, "bleu,rouge_l,meteor")
print(result)
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing `typing` takes longer than all else here

__version__ = "0.1.0"

if TYPE_CHECKING:
    from typing import Any

    from dialogauge.agreement import Agreement, correlate
    from dialogauge.corpus import Corpus, Turn
    from dialogauge.corpus.load import load, stream
    from dialogauge.corpus.trusted import trusted_only
    from dialogauge.errors import DialogaugeError, InputError, MissingPackage
    from dialogauge.evaluation import (
        Comparison,
        Result,
        RunOptions,
        Score,
        best_replies,
        compare,
        compare_runs,
        evaluate,
        worst_replies,
    )
    from dialogauge.figures import (
        plot_agreement,
        plot_agreement_forest,
        plot_agreement_heatmap,
        plot_comparison,
        plot_normality,
        plot_scores,
        plot_sensitivity,
        plot_system_scatter,
        plot_training,
        plot_turn_scatter,
    )
    from dialogauge.figures.report import write_report
    from dialogauge.learned.entailment.train import train_entailment
    from dialogauge.learned.gauge.train import train_gauge
    from dialogauge.learned.ruber.train import train_ruber
    from dialogauge.learned.synthesis import synthesize_entailment
    from dialogauge.metrics.function import metric
    from dialogauge.people.estimate.estimate_corpus import estimate
    from dialogauge.people.estimate.estimate_result import PeopleEstimate
    from dialogauge.people.plan.choose import choose
    from dialogauge.people.plan.make_plan import plan
    from dialogauge.people.rating.rate_corpus import open_study, rate
    from dialogauge.studies.audit import audit
    from dialogauge.studies.audit_result import Audit
    from dialogauge.studies.normality import normality
    from dialogauge.studies.perturb import perturb
    from dialogauge.studies.sensitivity import sensitivity
    from dialogauge.studies.verify_run import verify_run

_HOMES = {
    "Agreement": "agreement",
    "Audit": "studies.audit_result",
    "Comparison": "evaluation",
    "Corpus": "corpus",
    "Turn": "corpus",
    "load": "corpus",
    "stream": "corpus",
    "DialogaugeError": "errors",
    "PeopleEstimate": "people.estimate.estimate_result",
    "InputError": "errors",
    "MissingPackage": "errors",
    "Result": "evaluation",
    "RunOptions": "evaluation",
    "Score": "evaluation",
    "audit": "studies.audit",
    "best_replies": "evaluation",
    "choose": "people.plan.choose",
    "compare": "evaluation",
    "compare_runs": "evaluation",
    "correlate": "agreement",
    "estimate": "people.estimate.estimate_corpus",
    "evaluate": "evaluation",
    "metric": "metrics.function",
    "normality": "studies.normality",
    "open_study": "people.rating.rate_corpus",
    "perturb": "studies.perturb",
    "plan": "people.plan.make_plan",
    "plot_agreement": "figures",
    "plot_agreement_forest": "figures",
    "plot_agreement_heatmap": "figures",
    "plot_comparison": "figures",
    "plot_normality": "figures",
    "plot_scores": "figures",
    "plot_sensitivity": "figures",
    "plot_system_scatter": "figures",
    "plot_training": "figures",
    "plot_turn_scatter": "figures",
    "rate": "people.rating.rate_corpus",
    "sensitivity": "studies.sensitivity",
    "synthesize_entailment": "learned.synthesis",
    "train_entailment": "learned.entailment.train",
    "train_gauge": "learned.gauge.train",
    "train_ruber": "learned.ruber.train",
    "trusted_only": "corpus.trusted",
    "verify_run": "studies.verify_run",
    "worst_replies": "evaluation",
    "write_report": "figures.report",
}
__all__ = [
    "Agreement",
    "Audit",
    "Comparison",
    "Corpus",
    "DialogaugeError",
    "InputError",
    "MissingPackage",
    "PeopleEstimate",
    "Result",
    "RunOptions",
    "Score",
    "Turn",
    "__version__",
    "audit",
    "best_replies",
    "choose",
    "compare",
    "compare_runs",
    "correlate",
    "estimate",
    "evaluate",
    "load",
    "metric",
    "normality",
    "open_study",
    "perturb",
    "plan",
    "plot_agreement",
    "plot_agreement_forest",
    "plot_agreement_heatmap",
    "plot_comparison",
    "plot_normality",
    "plot_scores",
    "plot_sensitivity",
    "plot_system_scatter",
    "plot_training",
    "plot_turn_scatter",
    "rate",
    "sensitivity",
    "stream",
    "synthesize_entailment",
    "train_entailment",
    "train_gauge",
    "train_ruber",
    "trusted_only",
    "verify_run",
    "worst_replies",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """Brings in a part of the package when it is first used, so that importing dialogauge stays quick."""
    if name in _HOMES:
        if name.startswith("train_"):
            import_module("dialogauge.errors").require_neural(f"dialogauge.{name}")
        return getattr(import_module(f"dialogauge.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dialogauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
