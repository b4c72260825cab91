"""Figures as SVG: what they show, that they stand alone, and that names cannot break them."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import dialogauge
from dialogauge.evaluation.pairs import Pair
from dialogauge.figures.report.charts import DOWN, UP, heat_map, histograms, pair_in_words, pair_matrix
from tests.figures.report.test_findings import agreement, ceiling, row
from tests.figures.report.test_page import HOSTILE, turns

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    """As a file of its own: well-formed, named, and with nothing that a policy forbids."""
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.attrib["role"] == "img"
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert not [part for part in root.iter() if "style" in part.attrib or part.tag in (f"{SVG}style", f"{SVG}script")]
    return root


def titles(root):
    return [part.text for part in root.iter(f"{SVG}title")][1:]


@pytest.fixture(scope="module")
def comparison():
    return dialogauge.compare(turns(), "rouge_l,length", resamples=50)


def test_a_cell_for_each_pair_in_both_directions(comparison):
    root = parsed(pair_matrix(comparison, "rouge_l"))
    found = titles(root)
    assert len(found) == 6
    pair = comparison.pair("a", "b", "rouge_l")
    assert any(said.startswith(f"a − b: {pair.difference:.4f} [") and said.endswith(": a is better") for said in found)
    assert any(said.startswith(f"b − a: {-pair.difference:.4f} [") and said.endswith(": a is better") for said in found)
    # Up where the system of the row is better, which a is than both, and down for the other side.
    shapes = [part.attrib["d"] for part in root.iter(f"{SVG}path")]
    assert len(shapes) == 6
    assert shapes[:3] == [UP, UP, DOWN]


def test_metrics_without_a_direction_have_no_better(comparison):
    root = parsed(pair_matrix(comparison, "length"))
    assert not list(root.iter(f"{SVG}path"))
    assert "".join(root.itertext()).count("≠") == 6
    assert all(said.endswith("they differ") for said in titles(root))


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (Pair("m", "a", "b"), "a − b: –, not tested"),
        (Pair("m", "a", "b", 0.5, 0.4, 0.6, 0.0001, 0.0002, units=9, better="a"),
         "a − b: 0.50 [0.40, 0.60], p < 0.001 after Holm's correction, 9 contexts: a is better"),
        (Pair("m", "a", "b", 0.5, -0.4, 0.6, 0.2, 0.4, paired=False, first_units=3, second_units=4),
         "a − b: 0.50 [-0.40, 0.60], p = 0.400 after Holm's correction, 3 and 4 contexts: not told apart"),
    ],
)  # fmt: skip
def test_pairs_in_words(pair, said):
    assert pair_in_words(pair, 2, "contexts", True) == said


def test_twenty_systems_and_hostile_names():
    names = [f"{number} {HOSTILE}" for number in range(20)]
    result = dialogauge.compare(turns(names, 3), "length", resamples=5)
    root = parsed(pair_matrix(result, "length"))
    assert len(titles(root)) == 380
    assert "<script" not in pair_matrix(result, "length")


def test_heat_maps_have_values_signs_and_the_ceiling():
    other = {"corpus": "theirs"}
    rows = [row("a", 0.5), row("b", -0.25), row("a", None, None, None, None, **other), row("b", 1.0, **other)]
    svg = heat_map(agreement(rows, [ceiling(0.6, split_half=0.64)]), "turn")
    root = parsed(svg)
    assert titles(root) == [
        *("a, mine: 0.500", "a, theirs: –", "b, mine: -0.250", "b, theirs: 1.000"),
        *("one rater, mine: 0.600", "one rater, theirs: –", "ceiling, mine: 0.800", "ceiling, theirs: –"),
    ]
    shown = [part.text for part in root.iter(f"{SVG}text")]
    assert {"0.50", "−0.25", "1.00", "0.60", "0.80"} <= set(shown)
    fills = [
        (part.attrib["fill"], part.attrib["fill-opacity"])
        for part in root.iter(f"{SVG}rect")
        if "fill-opacity" in part.attrib
    ]
    # Another colour on the other side of 0, stronger the farther from it.
    assert fills[0][0] != fills[2][0]
    assert [float(strength) for _, strength in fills[:4]] == [0.36, 0.0, 0.18, 0.72]


def test_histograms_count_every_value():
    values = {"x": np.array([0.0, 0.0, 1.0, np.nan]), "y": np.array([0.5]), "none": np.array([])}
    svg, table = histograms("m", values)
    assert titles(parsed(svg)) == [
        "x: 3 replies from 0 to 1, quartiles 0, 0, 0.5",
        "y: 1 replies from 0.5 to 0.5, quartiles 0.5, 0.5, 0.5",
        "none: no values",
    ]
    counts = [[int(cell.text) for cell in line[2:]] for line in table.rows[:-1]]
    assert np.sum(counts, axis=0).tolist() == [3, 1, 0]
    assert counts[0][0] == 2
    assert counts[-1][0] == 1
    assert [cell.text for cell in table.rows[-1]] == ["median", "", "0", "0.5", "–"]


def test_histograms_of_one_value_and_of_none():
    svg, _ = histograms("m", {"x": np.full(4, 3.0)})
    parsed(svg)
    assert histograms("m", {"x": np.array([np.nan])}) is None
    assert histograms("m", {}) is None


def test_forests_are_in_notebooks_and_in_the_page(tmp_path):
    result = dialogauge.evaluate(turns(), "rouge_l", resamples=20)
    drawn = re.findall(r"<svg.*?</svg>", result._repr_html_(), re.DOTALL)
    page = dialogauge.write_report(result, tmp_path / "x.html").read_text()
    assert len(drawn) == 1
    assert drawn[0] in page


def test_long_names_are_told_apart():
    names = [f"a very long name of a system that ends in {number}" for number in range(3)]
    svg = pair_matrix(dialogauge.compare([replace(t, system=names["abc".index(t.system)]) for t in turns()], "length",
                                         resamples=5), "length")  # fmt: skip
    shown = [part.text for part in parsed(svg).iter(f"{SVG}text")]
    assert len({text for text in shown if text.startswith("a ver")}) == 3
