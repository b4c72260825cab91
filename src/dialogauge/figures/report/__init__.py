from dialogauge.figures.report.page import check_report_path, report_page, write_report

__all__ = ["check_report_path", "report_page", "write_report"]
