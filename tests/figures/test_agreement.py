import sys
from dataclasses import replace

import numpy as np
import pytest

from dialogauge.agreement.points import Points, Scope
from dialogauge.agreement.result import Agreement, AgreementRow, Ceiling
from dialogauge.errors import InputError, MissingPackage
from dialogauge.evaluation.options import Settings
from dialogauge.figures import (
    check_figure_folder,
    plot_agreement,
    plot_agreement_forest,
    plot_agreement_heatmap,
    plot_paper_bars,
    plot_system_scatter,
    plot_turn_scatter,
)
from dialogauge.figures.agreement import COLOURS, draw_agreement_forest, draw_agreement_heatmap
from dialogauge.figures.agreement_scatters import draw_system_scatter, draw_turn_scatter
from dialogauge.figures.drawing import label_points, panels
from dialogauge.figures.papers import draw_paper_bars
from dialogauge.papers.fbd.figures import Bar
from dialogauge.tables.names import fit, fit_all

METRICS = ("bertscore", "fbd", "bleu")


def corpus_of(name, metrics, systems, turns, rng, lower=("fbd",)):
    """Points of turns and of systems: ratings from 1 to 5 by three raters, metrics that follow them more or less."""
    quality = rng.permutation(np.linspace(-1, 1, len(systems)))
    truth = np.concatenate([rng.normal(q, 1, turns) for q in quality])
    people = np.clip(np.round(3 * (3 + truth + rng.normal(0, 0.5, truth.size))) / 3, 1, 5)
    strength = np.linspace(1.5, -0.4, len(metrics))
    sign = np.array([-1 if metric in lower else 1 for metric in metrics])
    values = sign * (strength * truth[:, None] + rng.normal(0, 1, (truth.size, len(metrics))))
    shape = (len(systems), turns)
    means, mean_people = values.reshape(*shape, -1).mean(axis=1), people.reshape(shape).mean(axis=1)
    wide = 1.96 / np.sqrt(turns) * np.array([-1, 1])
    return [
        Points(
            *(Scope(name, "overall", "turn"), metrics, values, people),
            names=[f"{system}-{i}" for system in systems for i in range(turns)],
            systems=[system for system in systems for _ in range(turns)],
            units=np.tile(np.arange(turns), len(systems)),
        ),
        Points(
            *(Scope(name, "overall", "system"), metrics, means, mean_people),
            names=list(systems),
            systems=list(systems),
            units=np.arange(len(systems)),
            value_intervals=means[:, :, None] + wide,
            people_intervals=mean_people[:, None] + wide,
        ),
    ]


def row_of(scope, metric, n, r=None, wide=None, top=False, lower=("fbd",)):
    low, high = (None, None) if r is None or wide is None else (max(r - wide, -1), min(r + wide, 1))
    return AgreementRow(
        *(scope.corpus, scope.dimension, scope.level, scope.system, metric, n),
        *(3 * (r, low, high, None if r is None else 0.01)),
        cosine=None,
        pairwise_accuracy=None,
        pearson_top=top,
        spearman_top=top,
        higher_is_better=metric not in lower,
        signature=metric,
    )


def rows_from(points, lower=("fbd",)):
    found = []
    for metric in points.metrics:
        known = np.isfinite(points.column(metric))
        r = None
        if known.sum() > 2:
            r = float(np.corrcoef(points.people[known], points.column(metric)[known])[0, 1])
            r *= -1 if metric in lower else 1
        found.append((metric, int(known.sum()), r))
    best = max((r for *_, r in found if r is not None), default=0)
    return [
        row_of(points.scope, metric, n, r, 1.2 / np.sqrt(max(n, 1)), r is not None and r > best - 0.1, lower)
        for metric, n, r in found
    ]


def agreement(metrics=METRICS, systems=("a$_b$", "é", "good", "bad"), corpora=("dailyz", "persona"), turns=40, seed=0):
    rng = np.random.default_rng(seed)
    points = [part for name in corpora for part in corpus_of(name, list(metrics), systems, turns, rng)]
    rows = [row for part in points for row in rows_from(part)]
    if len(corpora) > 1:
        for level in ("turn", "system"):
            for metric in metrics:
                each = [row.spearman for row in rows if row.metric == metric and row.level == level]
                mean = Scope("mean", "overall", level)
                rows.append(row_of(mean, metric, len(corpora), float(np.mean(each)), 0.1, metric == metrics[0]))
    ceilings = [
        Ceiling(*(p.scope.corpus, "overall", p.scope.level, None, 40, 3, 3), *(0.5, 0.7, 0.62, 0.6))
        for p in points
        if p.scope.corpus == corpora[0]
    ]
    return Agreement(rows, ceilings, [], points, list(metrics), (), [], Settings(), "contexts")


BARS = {
    title: [
        Bar("Daily(Z)", "BERTScore", 0.4, 0.1, 0.6, 0.45),
        Bar("Daily(Z)", "FBD", -0.3, -0.5, 0.1, 0.7),
        Bar("Persona(Z)", "BERTScore", 0.2),
        Bar("Persona(Z)", "FBD", 0.5, published=0.1),
    ]
    for title in ("Spearman", "Pearson")
}
PLOTS = {
    "turns": lambda found, path: plot_turn_scatter(found, path),
    "systems": lambda found, path: plot_system_scatter(found, path),
    "heatmap": lambda found, path: plot_agreement_heatmap(found, path),
    "forest": lambda found, path: plot_agreement_forest(found, path),
    "bars": lambda _, path: plot_paper_bars(BARS, path),
}
every_plot = pytest.mark.parametrize("plot", PLOTS.values(), ids=PLOTS)


@pytest.fixture(scope="module")
def found():
    return agreement()


def words(figure):
    return figure._supxlabel.get_text().replace("\n", " ")


def texts(axis):
    return [text.get_text() for text in axis.texts]


def dots(axis):
    return [line for line in axis.lines if line.get_marker() in ("o", "D")]


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


@every_plot
@pytest.mark.parametrize(("name", "start"), [("f.png", b"\x89PNG"), ("f.svg", b"<?xml"), ("f.pdf", b"%PDF")])
def test_formats(found, tmp_path, plot, name, start):
    path = plot(found, tmp_path / "deep" / name)
    assert path == tmp_path / "deep" / name
    assert path.read_bytes().startswith(start)


@every_plot
@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_same_agreement_same_bytes(found, at_two_times, plot, form):
    today, then = at_two_times(lambda path: plot(found, path), form)
    assert today == then


@every_plot
def test_without_matplotlib_the_extra_is_named(found, tmp_path, monkeypatch, plot):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackage, match=r"pip install 'dialogauge\[plot\]'"):
        plot(found, tmp_path / "f.png")


@every_plot
def test_other_kinds_of_files_are_refused(found, tmp_path, plot):
    with pytest.raises(InputError, match="cannot draw into this kind of file"):
        plot(found, tmp_path / "f.txt")


class TestTurns:
    def test_a_panel_for_each_metric_and_a_point_for_each_turn(self, found):
        figure = draw_turn_scatter(found)
        assert [axis.get_title() for axis in figure.axes] == list(METRICS)
        assert [axis.get_ylabel() for axis in figure.axes] == [
            "higher is better",
            "lower is better",
            "higher is better",
        ]
        points = found.points[0]
        for axis, metric in zip(figure.axes, METRICS, strict=True):
            systems = axis.collections[:4]
            drawn = np.concatenate([part.get_offsets().data for part in systems])
            assert drawn[:, 1].tolist() == points.column(metric).tolist()
            moved = np.abs(drawn[:, 0] - points.people)
            assert 0 < moved.max() < 1 / 6  # ratings are thirds

    def test_systems_differ_in_colour_and_marker(self, found):
        figure = draw_turn_scatter(found)
        parts = figure.axes[0].collections[:4]
        assert len({tuple(part.get_facecolor()[0]) for part in parts}) == 4
        assert len({part.get_paths()[0].vertices.tobytes() for part in parts}) == 4
        assert legend(figure) == ["a$_b$", "é", "good", "bad"]

    def test_many_systems_have_one_colour(self):
        figure = draw_turn_scatter(agreement(systems=[f"s{i}" for i in range(7)], turns=12))
        scatter, _band = figure.axes[0].collections
        assert len(scatter.get_offsets()) == 84
        assert not figure.legends

    def test_the_corner_has_the_correlations(self, found):
        row = found.row("bleu", level="turn")
        value, low, high = (
            f"{number:.2f}".replace("-", "−") for number in (row.pearson, row.pearson_low, row.pearson_high)
        )
        told = texts(draw_turn_scatter(found).axes[2])[0]
        assert told == f"r = {value} [{low}, {high}]\nρ = {value} [{low}, {high}]"
        assert value.startswith("−")

    def test_the_caption_says_that_lower_is_better_where_it_is(self, found):
        assert "correlations are turned round where lower is better" in words(draw_turn_scatter(found))
        assert "turned" not in words(draw_turn_scatter(found, metrics=["bleu"]))
        assert "dailyz, overall; x: mean rating of each turn" in words(draw_turn_scatter(found))

    def test_undefined_values_are_left_out(self, found):
        points = found.points[0]
        values = points.values.copy()
        values[:5, 0] = np.nan
        values[:, 1] = np.nan
        rows = [row_of(row.scope, row.metric, 0) if row.metric == "fbd" else row for row in found.rows]
        figure = draw_turn_scatter(replace(found, points=[replace(points, values=values)], rows=rows))
        assert sum(len(part.get_offsets()) for part in figure.axes[0].collections[:4]) == 155
        assert texts(figure.axes[1]) == ["no values", "r undefined\nρ undefined"]
        assert legend(figure) == ["a$_b$", "é", "good", "bad"]

    def test_the_legend_is_there_where_the_first_metric_has_no_values(self, found):
        values = found.points[0].values.copy()
        values[:, 0] = np.nan
        figure = draw_turn_scatter(replace(found, points=[replace(found.points[0], values=values)]))
        assert legend(figure) == ["a$_b$", "é", "good", "bad"]

    def test_equal_ratings_have_no_line(self, found):
        points = replace(found.points[0], people=np.full(160, 3.0))
        figure = draw_turn_scatter(replace(found, points=[points]))
        assert not figure.axes[0].lines

    def test_many_points_are_a_picture(self, tmp_path):
        big = agreement(metrics=["bleu"], turns=600, corpora=["a"])
        assert plot_turn_scatter(big, tmp_path / "f.svg").stat().st_size < 200_000

    def test_the_first_scope_of_all_systems_unless_one_is_asked_for(self, found):
        own = replace(found.points[0], scope=Scope("dailyz", "overall", "turn", "é"))
        other = replace(found, points=[own, *found.points])
        assert "dailyz, overall;" in words(draw_turn_scatter(other))
        assert "dailyz, overall, é;" in words(draw_turn_scatter(other, own.scope))
        assert "persona, overall;" in words(draw_turn_scatter(found, Scope("persona", "overall", "turn")))

    def test_dialogues(self, found):
        scope = Scope("dailyz", "overall", "dialogue")
        figure = draw_turn_scatter(replace(found, points=[replace(found.points[0], scope=scope)]), scope)
        assert "mean rating of each dialogue" in words(figure)

    def test_what_there_is_not(self, found, tmp_path):
        with pytest.raises(InputError, match=r"unknown metric 'blue'; did you mean bleu\?"):
            plot_turn_scatter(found, tmp_path / "new" / "f.png", metrics=["blue"])
        assert not (tmp_path / "new").exists()
        with pytest.raises(InputError, match="no metric to draw; there are: bertscore, fbd, bleu"):
            plot_turn_scatter(found, tmp_path / "f.png", metrics=[])
        with pytest.raises(InputError, match=r"unknown scope 'daily / overall / turn'; did you mean dailyz / overall"):
            plot_turn_scatter(found, tmp_path / "f.png", Scope("daily", "overall", "turn"))
        with pytest.raises(InputError, match="unknown level 'turn'; known: system"):
            plot_turn_scatter(replace(found, points=found.points[1:2]), tmp_path / "f.png")


class TestSystems:
    def test_points_names_and_intervals(self, found):
        figure = draw_system_scatter(found)
        assert [axis.get_title() for axis in figure.axes] == list(METRICS)
        points = found.points[1]
        for axis, metric in zip(figure.axes, METRICS, strict=True):
            (line,) = dots(axis)
            assert line.get_xdata().tolist() == points.people.tolist()
            assert line.get_ydata().tolist() == points.column(metric).tolist()
            assert {"a$_b$", "é", "good", "bad"} < set(texts(axis))
            across, up = axis.collections
            ends = np.array([segment[:, 0] for segment in across.get_segments()])
            assert ends == pytest.approx(points.people_intervals)
            ends = np.array([segment[:, 1] for segment in up.get_segments()])
            assert ends == pytest.approx(points.value_intervals[:, points.metrics.index(metric)])
        assert "4 systems only: a correlation of so few is uncertain" in words(figure)
        assert "95% intervals over contexts and systems (bars: over contexts)" in words(figure)

    def test_many_systems_are_numbered(self):
        names = [f"s{i}" for i in range(11)]
        figure = draw_system_scatter(agreement(systems=names, turns=12))
        assert legend(figure) == [f"{i + 1} s{i}" for i in range(11)]
        assert texts(figure.axes[0])[1:] == [str(i + 1) for i in range(11)]
        assert "only" not in words(figure)

    def test_long_names_are_numbered(self):
        figure = draw_system_scatter(agreement(systems=["x" * 40, "b", "c", "d"]))
        assert legend(figure) == ["1 " + "x" * 27 + "…", "2 b", "3 c", "4 d"]

    def test_without_intervals_or_values(self, found):
        points = found.points[1]
        values, bars = points.values.copy(), points.value_intervals.copy()
        values[0, 0], values[:, 1], bars[1] = np.nan, np.nan, np.nan
        some = replace(points, values=values, value_intervals=bars, people_intervals=None)
        figure = draw_system_scatter(replace(found, points=[some]))
        assert texts(figure.axes[0])[1:] == ["é", "good", "bad"]
        across, up = figure.axes[0].collections
        assert not any(len(segment) for segment in across.get_segments())
        assert [len(segment) for segment in up.get_segments()] == [0, 2, 2]
        assert texts(figure.axes[1])[1:] == ["no values"]
        bare = replace(points, value_intervals=None, people_intervals=None)
        assert len(draw_system_scatter(replace(found, points=[bare])).axes) == 3

    def test_what_there_is_not(self, found, tmp_path):
        with pytest.raises(InputError, match="unknown level 'system'; known: turn"):
            plot_system_scatter(replace(found, points=found.points[:1]), tmp_path / "f.png")
        with pytest.raises(InputError, match="unknown scope"):
            plot_system_scatter(found, tmp_path / "f.png", Scope("dailyz", "overall", "turn"))

    def test_labels_keep_clear_of_each_other(self):
        figure, (axis,) = panels(1, 3, 3)
        x, y = np.array([0, 0.02, 0.04, 1]), np.array([0, 0.02, 0, 1])
        axis.plot(x, y, "o")
        figure.draw_without_rendering()
        labels = label_points(axis, x, y, ["one", "two", "three", "four"])
        figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in labels]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        inside = axis.get_window_extent()
        assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes)


class TestHeatmap:
    def test_cells(self, found):
        (axis,) = draw_agreement_heatmap(found, "turn").axes
        assert [label.get_text() for label in axis.get_yticklabels()] == list(METRICS)
        assert [label.get_text() for label in axis.get_xticklabels()] == ["dailyz", "persona", "mean"]
        assert axis.get_xticks().tolist() == [0, 1, 2.25]
        expected = [
            f"{found.row(metric, corpus=corpus, level='turn').spearman:+.2f}".replace("-", "−")
            for corpus in ("dailyz", "persona", "mean")
            for metric in METRICS
        ]
        assert texts(axis) == expected
        assert len(axis.patches) == 9

    def test_letters_say_whether_the_interval_holds_0(self, found):
        scope = Scope("a", "overall", "turn")
        rows = [
            row_of(scope, "sure", 9, 0.5, 0.2),
            row_of(scope, "unsure", 9, 0.5, 0.6),
            row_of(scope, "unknown", 9, -0.5),
            row_of(scope, "none", 9),
        ]
        figure = draw_agreement_heatmap(replace(found, rows=rows, metrics=[row.metric for row in rows]), "turn")
        looks = [(text.get_text(), text.get_weight(), text.get_style()) for text in figure.axes[0].texts]
        assert looks == [
            ("+0.50", "bold", "normal"),
            ("+0.50", "normal", "italic"),
            ("−0.50", "normal", "normal"),
            ("–", "normal", "normal"),
        ]
        assert [bool(patch.get_hatch()) for patch in figure.axes[0].patches] == [False, False, False, True]
        assert words(figure).endswith("–: undefined")

    def test_every_number_can_be_read(self, found):
        """Contrast of 4.5, as WCAG asks of small text."""
        from matplotlib import colormaps
        from matplotlib.colors import to_rgb

        def light(colour):
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
            return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))

        values = np.linspace(-1, 1, 81)
        names = [f"m{i}" for i in range(81)]
        rows = [row_of(Scope("a", "o", "turn"), name, 9, float(v)) for name, v in zip(names, values, strict=True)]
        (axis,) = draw_agreement_heatmap(replace(found, rows=rows, metrics=names), "turn").axes
        for text, patch, value in zip(axis.texts, axis.patches, values, strict=True):
            assert patch.get_facecolor() == colormaps[COLOURS]((value + 1) / 2)
            low, high = sorted([light(to_rgb(text.get_color())), light(patch.get_facecolor())])
            assert (high + 0.05) / (low + 0.05) >= 4.5

    def test_dimensions_are_named_where_a_corpus_has_several(self, found):
        more = [replace(row, dimension="fluency") for row in found.rows if row.corpus == "dailyz"]
        (axis,) = draw_agreement_heatmap(replace(found, rows=[*found.rows, *more])).axes
        labels = [label.get_text() for label in axis.get_xticklabels()]
        assert labels == ["dailyz\noverall", "persona", "dailyz\nfluency", "mean"]

    def test_a_metric_that_a_corpus_lacks(self, found):
        rows = [row for row in found.rows if (row.corpus, row.metric) != ("persona", "fbd")]
        (axis,) = draw_agreement_heatmap(replace(found, rows=rows)).axes
        assert texts(axis)[4] == "–"
        assert len(axis.texts) == 9

    def test_what_there_is_not(self, found, tmp_path):
        with pytest.raises(InputError, match="unknown coefficient 'spearmann'; did you mean spearman"):
            plot_agreement_heatmap(found, tmp_path / "f.png", coefficient="spearmann")
        with pytest.raises(InputError, match="unknown level 'dialogue'; known: system, turn"):
            plot_agreement_heatmap(found, tmp_path / "f.png", level="dialogue")
        with pytest.raises(InputError, match="unknown level 'turn'; known: none"):
            plot_agreement_heatmap(replace(found, rows=[]), tmp_path / "f.png", level="turn")


class TestForest:
    def test_panels_and_dots(self, found):
        figure = draw_agreement_forest(found, "turn")
        assert [axis.get_title() for axis in figure.axes] == ["dailyz", "persona", "mean"]
        assert [axis.get_xlabel() for axis in figure.axes] == ["160 turns", "160 turns", "2 corpora"]
        assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == list(METRICS)
        for axis in figure.axes:
            rows = [found.row(metric, corpus=axis.get_title(), level="turn") for metric in METRICS]
            assert [float(dot.get_xdata()[0]) for dot in dots(axis)] == [row.spearman for row in rows]
            ends = [list(line.get_xdata()) for line in axis.lines]
            assert all([row.spearman_low, row.spearman_high] in ends for row in rows)

    def test_the_top_group_is_filled_and_means_are_not_tested(self, found):
        figure = draw_agreement_forest(found, "turn")
        for axis in figure.axes[:2]:
            rows = [found.row(metric, corpus=axis.get_title(), level="turn") for metric in METRICS]
            assert [dot.get_markerfacecolor() != "white" for dot in dots(axis)] == [row.spearman_top for row in rows]
            assert {dot.get_marker() for dot in dots(axis)} == {"o"}
        assert {dot.get_marker() for dot in dots(figure.axes[2])} == {"D"}
        assert "filled dot: no metric is better" in words(figure)
        assert "diamond: not tested" in words(figure)
        assert "diamond" not in words(draw_agreement_forest(agreement(corpora=["a"]), "turn"))

    @pytest.mark.parametrize(("coefficient", "value"), [("pearson", 0.62), ("spearman", 0.6)])
    def test_what_people_reach(self, found, coefficient, value):
        first, *others = draw_agreement_forest(found, "system", coefficient).axes
        # Split-half is 0.7; its root 0.837.
        assert texts(first) == [f"one rater {value:.2f}", "ceiling 0.84"]
        dashed = [[line.get_xdata()[0] for line in axis.lines if line.is_dashed()] for axis in (first, *others)]
        assert dashed == [[value, pytest.approx(0.7**0.5)], [], []]

    def test_kendall_has_no_ceiling_and_no_test(self, found):
        figure = draw_agreement_forest(found, "turn", "kendall")
        assert not any(texts(axis) for axis in figure.axes)
        assert {dot.get_marker() for axis in figure.axes for dot in dots(axis)} == {"D"}
        assert not {"filled", "dashed:"} & set(words(figure).split())

    def test_undefined(self, found):
        rows = [row_of(row.scope, row.metric, 0) if row.metric == "fbd" else row for row in found.rows]
        axis = draw_agreement_forest(replace(found, rows=rows), "turn").axes[1]
        assert texts(axis) == ["undefined"]
        assert len(dots(axis)) == 2
        assert axis.get_xlabel() == "160 turns"

    def test_counts_differ(self, found):
        rows = [replace(row, n=7) if row.metric == "fbd" else row for row in found.rows]
        assert draw_agreement_forest(replace(found, rows=rows), "turn").axes[0].get_xlabel() == "7 to 160 turns"

    def test_what_there_is_not(self, found, tmp_path):
        with pytest.raises(InputError, match="unknown coefficient 'r'"):
            plot_agreement_forest(found, tmp_path / "f.png", coefficient="r")
        with pytest.raises(InputError, match="unknown level 'dialogue'; known: system, turn"):
            plot_agreement_forest(found, tmp_path / "f.png", level="dialogue")


class TestBars:
    def test_bars_intervals_and_published_values(self):
        figure = draw_paper_bars(BARS)
        assert [axis.get_title() for axis in figure.axes] == ["Spearman", "Pearson"]
        axis = figure.axes[0]
        assert [label.get_text() for label in axis.get_xticklabels()] == ["Daily(Z)", "Persona(Z)"]
        assert [patch.get_height() for patch in axis.patches] == [0.4, -0.3, 0.2, 0.5]
        lines = [list(map(float, line.get_ydata())) for line in axis.lines]
        assert all(line in lines for line in ([0.1, 0.6], [-0.5, 0.1], [0.45, 0.45], [0.7, 0.7], [0.1, 0.1]))
        assert len(lines) == 6  # and the one at 0
        assert legend(figure) == ["BERTScore", "FBD", "interval", "published"]

    def test_series_differ_in_colour_and_hatch(self):
        figure = draw_paper_bars({"": [Bar("a", str(i), 0.5) for i in range(7)]})
        looks = [(patch.get_facecolor(), patch.get_hatch()) for patch in figure.axes[0].patches]
        assert len({colour for colour, _ in looks}) == len({hatch for _, hatch in looks}) == 7
        assert legend(figure) == list("0123456")

    def test_undefined_and_missing_bars(self):
        bars = [Bar("a", "x", float("nan"), published=0.5), Bar("a", "y", 0.1), Bar("b", "x", 0.2)]
        (axis,) = draw_paper_bars({"r": bars}).axes
        assert texts(axis) == ["–"]
        assert len(axis.patches) == 2

    def test_what_cannot_be_drawn(self, tmp_path):
        with pytest.raises(InputError, match="there are no bars to draw"):
            plot_paper_bars({"r": []}, tmp_path / "f.png")
        with pytest.raises(InputError, match="2 bars of 'x' in the group 'a' of 'r'; there can be one"):
            plot_paper_bars({"r": [Bar("a", "x", 0.1), Bar("a", "x", 0.2)]}, tmp_path / "f.png")
        with pytest.raises(InputError, match="8 series cannot be told apart; at most 7 can"):
            plot_paper_bars({"r": [Bar("a", str(i), 0.1) for i in range(8)]}, tmp_path / "f.png")


class TestFolder:
    def test_everything_is_drawn_once(self, found, tmp_path):
        drawn = plot_agreement(found, tmp_path / "deep" / "figures", "svg")
        assert [path.name for path in drawn] == [
            *("forest-turn.svg", "heatmap-turn.svg", "forest-system.svg", "heatmap-system.svg"),
            *("turns-dailyz-overall.svg", "systems-dailyz-overall.svg"),
            *("turns-persona-overall.svg", "systems-persona-overall.svg"),
        ]
        assert sorted(drawn) == sorted((tmp_path / "deep" / "figures").iterdir())

    def test_names_that_are_no_names_for_files(self, tmp_path):
        odd = agreement(metrics=["bleu"], corpora=["../a b", "_a?b", "A B", "..", "λόγος" * 99], turns=12)
        drawn = plot_agreement(odd, tmp_path, "svg")
        assert {path.parent for path in drawn} == {tmp_path}
        assert [path.name for path in drawn if path.name.startswith("turns")] == [
            *("turns-a_b-overall.svg", "turns-a_b-overall-2.svg", "turns-A_B-overall-3.svg"),
            *("turns-_-overall.svg", f"turns-{'λόγος' * 6}-overall.svg"),
        ]

    def test_one_system_has_no_figure_of_its_own(self, found, tmp_path):
        points, rows = found.points[:1], [row for row in found.rows if row.scope == found.points[0].scope]
        own = Scope("dailyz", "overall", "turn", "é")
        rows += [replace(row, system="é") for row in rows]
        drawn = plot_agreement(replace(found, points=[*points, replace(points[0], scope=own)], rows=rows), tmp_path)
        assert [path.name for path in drawn] == ["forest-turn.png", "heatmap-turn.png", "turns-dailyz-overall.png"]

    def test_places(self, tmp_path):
        assert check_figure_folder(tmp_path / "new", "pdf") == tmp_path / "new"
        assert not (tmp_path / "new").exists()
        file = tmp_path / "file"
        file.touch()
        for place in (file, file / "below"):
            with pytest.raises(InputError, match="is no place for a folder of figures: there is a file"):
                check_figure_folder(place)
        with pytest.raises(InputError, match="unknown kind of figure 'gif'"):
            check_figure_folder(tmp_path, "gif")

    def test_without_matplotlib_the_extra_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        with pytest.raises(MissingPackage):
            check_figure_folder(tmp_path)


class TestNames:
    def test_long_ones_are_cut(self):
        assert fit("x" * 28) == "x" * 28
        assert fit("x" * 29) == "x" * 27 + "…"
        assert fit("a\u202eb") == "a\\u202eb"

    def test_different_ones_stay_different(self):
        names = ["fbd[" + "a" * 40 + "=1]", "fbd[" + "a" * 40 + "=2]", "bleu", "x" * 14 + "1" + "x" * 40, "x" * 55]
        shown = fit_all(names)
        assert len(set(shown)) == 5
        assert [shown[0][-3:], shown[1][-3:], shown[2]] == ["=1]", "=2]", "bleu"]
        assert fit_all(["y" * 50 + "1" + "y" * 50, "y" * 50 + "2" + "y" * 50])[1].endswith(" (2)")

    def test_panels_fill_their_rows(self):
        shapes = {count: panels(count, 1, 1)[1][0].get_gridspec() for count in (1, 4, 5, 6, 7, 9, 13)}
        found = {count: (grid.nrows, grid.ncols) for count, grid in shapes.items()}
        assert found == {1: (1, 1), 4: (1, 4), 5: (2, 3), 6: (2, 3), 7: (2, 4), 9: (3, 3), 13: (4, 4)}
