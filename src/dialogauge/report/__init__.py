from dialogauge.report.figures import plot_scores
from dialogauge.report.normality_figure import plot_normality
from dialogauge.report.sensitivity_figure import plot_sensitivity

__all__ = ["plot_normality", "plot_scores", "plot_sensitivity"]
