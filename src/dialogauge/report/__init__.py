from dialogauge.report.figures import plot_scores

__all__ = ["plot_scores"]
