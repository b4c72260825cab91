from dialogauge.figures.report.content import report_content, runs_content
from dialogauge.figures.report.page import check_report_path, report_page, write_page, write_report

__all__ = ["check_report_path", "report_content", "report_page", "runs_content", "write_page", "write_report"]
