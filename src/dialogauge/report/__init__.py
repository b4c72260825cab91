from dialogauge.report.agreement_figures import check_figure_folder, plot_agreement
from dialogauge.report.agreement_forest import plot_agreement_forest
from dialogauge.report.agreement_heatmap import plot_agreement_heatmap
from dialogauge.report.agreement_scatter import plot_turn_scatter
from dialogauge.report.class_boxes import plot_class_boxes
from dialogauge.report.comparison_figure import plot_comparison
from dialogauge.report.figures import plot_scores
from dialogauge.report.normality_figure import plot_normality
from dialogauge.report.paper_bars import plot_paper_bars
from dialogauge.report.sensitivity_figure import plot_sensitivity
from dialogauge.report.similarity_scatter import plot_similarity_scatter
from dialogauge.report.system_scatter import plot_system_scatter
from dialogauge.report.training_curves import plot_training

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
