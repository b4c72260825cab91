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
    from dialogauge.corpus.perturb import perturb
    from dialogauge.errors import DialogaugeError, InputError
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
    from dialogauge.evaluation.normality import normality
    from dialogauge.evaluation.sensitivity import sensitivity
    from dialogauge.learn.entailment.train import train_entailment
    from dialogauge.learn.ruber import train_ruber
    from dialogauge.learn.synthesis import synthesize_entailment
    from dialogauge.metrics.function import metric
    from dialogauge.report import (
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

_HOMES = {
    "Agreement": "agreement",
    "Comparison": "evaluation",
    "Corpus": "corpus",
    "Turn": "corpus",
    "load": "corpus",
    "stream": "corpus",
    "DialogaugeError": "errors",
    "InputError": "errors",
    "Result": "evaluation",
    "RunOptions": "evaluation",
    "Score": "evaluation",
    "best_replies": "evaluation",
    "compare": "evaluation",
    "compare_runs": "evaluation",
    "correlate": "agreement",
    "evaluate": "evaluation",
    "metric": "metrics.function",
    "normality": "evaluation",
    "perturb": "corpus.perturb",
    "plot_agreement": "report",
    "plot_agreement_forest": "report",
    "plot_agreement_heatmap": "report",
    "plot_comparison": "report",
    "plot_normality": "report",
    "plot_scores": "report",
    "plot_sensitivity": "report",
    "plot_system_scatter": "report",
    "plot_training": "report",
    "plot_turn_scatter": "report",
    "sensitivity": "evaluation",
    "synthesize_entailment": "learn.synthesis",
    "train_entailment": "learn.entailment.train",
    "train_ruber": "learn.ruber",
    "worst_replies": "evaluation",
}
__all__ = [
    "Agreement",
    "Comparison",
    "Corpus",
    "DialogaugeError",
    "InputError",
    "Result",
    "RunOptions",
    "Score",
    "Turn",
    "__version__",
    "best_replies",
    "compare",
    "compare_runs",
    "correlate",
    "evaluate",
    "load",
    "metric",
    "normality",
    "perturb",
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
    "sensitivity",
    "stream",
    "synthesize_entailment",
    "train_entailment",
    "train_ruber",
    "worst_replies",
]


def __getattr__(name: str) -> Any:
    """Brings in a part of the package when it is first used, so that importing dialogauge stays quick."""
    if name in _HOMES:
        if name.startswith("train_"):
            import_module("dialogauge.encode.neural").require_neural(f"dialogauge.{name}")
        return getattr(import_module(f"dialogauge.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'dialogauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
