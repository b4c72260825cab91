"""dialogauge metrics: what there is to measure with."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dialogauge.cli.common.output import add_format, print_table, warn
from dialogauge.tables import Cell, Header, Table

if TYPE_CHECKING:
    from dialogauge.metrics.base import AnyMetric

HELP = "list the metrics"
DESCRIPTION = "Lists every metric with what it measures, what it needs and the options it takes, and the groups."
EXAMPLES = """\
examples:
  dialogauge metrics
  dialogauge metrics --format json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_format(parser)


def run(arguments: argparse.Namespace) -> int:
    from dialogauge.metrics.registry import metric_classes, metric_groups

    classes, caveats = metric_classes()
    warn(caveats, arguments)
    groups = metric_groups()
    records = [_record(name, cls, groups) for name, cls in classes.items()]
    document = {"schema": "dialogauge.metrics/1", "metrics": records, "groups": groups}
    print_table(arguments, _table(records, groups), records, document)
    return 0


def _record(name: str, cls: type[AnyMetric], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    from dialogauge.metrics.registry import describe_options

    higher = cls.higher_is_better
    return {
        "name": name,
        "measures": cls.title,
        "higher_is_better": higher if isinstance(higher, bool) else None,  # no property, which asks for options
        "needs": cls.needed() or "responses",
        "options": describe_options(cls),
        "parts": ", ".join(f"{name}.{part}" for part in cls.parts),
        "groups": ", ".join(group for group, names in groups.items() if name in names),
    }


def _table(records: list[dict[str, Any]], groups: Mapping[str, Sequence[str]]) -> Table:
    better = {True: "higher", False: "lower", None: "neither"}
    rows = [
        [
            Cell(record["name"]),
            Cell(record["measures"]),
            Cell(better[record["higher_is_better"]]),
            Cell(record["needs"]),
            Cell("; ".join(filter(None, (record["options"], record["parts"])))),
        ]
        for record in records
    ]
    names = ("name", "measures", "better", "needs", "options; parts")
    notes = [
        "options go in brackets: bleu[lowercase=true]; a part alone: distinct.1",
        "a group stands for its metrics: overlap,bertscore; what cannot be measured is left out and named",
        *(f"group {group}: {', '.join(names)}" for group, names in groups.items()),
    ]
    return Table([Header(name, align="left", spare=name == names[-1]) for name in names], rows, notes)
