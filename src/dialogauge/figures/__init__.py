from dialogauge.figures.agreement import (
    check_figure_folder,
    plot_agreement,
    plot_agreement_forest,
    plot_agreement_heatmap,
)
from dialogauge.figures.agreement_scatters import plot_system_scatter, plot_turn_scatter
from dialogauge.figures.papers import plot_class_boxes, plot_paper_bars, plot_similarity_scatter
from dialogauge.figures.scores import plot_comparison, plot_scores
from dialogauge.figures.studies import plot_normality, plot_sensitivity, plot_training

__all__ = [
    "check_figure_folder",
    "plot_agreement",
    "plot_agreement_forest",
    "plot_agreement_heatmap",
    "plot_class_boxes",
    "plot_comparison",
    "plot_normality",
    "plot_paper_bars",
    "plot_scores",
    "plot_sensitivity",
    "plot_similarity_scatter",
    "plot_system_scatter",
    "plot_training",
    "plot_turn_scatter",
]
