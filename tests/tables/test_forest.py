"""Forest plots and the SVG that they are made of."""

from xml.etree import ElementTree

import pytest

from dialogauge.tables.forest import ForestPanel, ForestRow, forest, forest_panel
from dialogauge.tables.svg import AxisScale, element, safe, tick_labels

SVG = "{http://www.w3.org/2000/svg}"


def row(name="a", value=1.0, low=0.5, high=1.5, **more):
    return ForestRow(name, value, low, high, f"{value}", f"{name}: {value}", **more)


def drawn(*rows, **more):
    return ElementTree.fromstring(forest_panel(ForestPanel("m", "higher is better", list(rows), **more)))


def lines(root, kind):
    return [part.attrib for part in root.iter(f"{SVG}line") if part.attrib.get("class") == kind]


def test_marks_stand_where_their_values_are():
    root = drawn(row("a", 1.0, 0.0, 2.0), row("b", 3.0, 2.0, 4.0, best=True, floor=2.0))
    (mark,) = root.iter(f"{SVG}circle")
    (line,) = lines(root, "mark-line")
    # 1 is halfway between 0 and 2.
    assert float(mark.attrib["cx"]) == pytest.approx((float(line["x1"]) + float(line["x2"])) / 2, abs=0.02)
    (best,), (floor,) = lines(root, "best-line"), lines(root, "floor")
    # Its interval begins at the other's end, and at its floor.
    assert best["x1"] == line["x2"] == floor["x1"]
    assert len(list(root.iter(f"{SVG}path"))) == 1  # the diamond of the best


def test_what_is_not_known_is_not_drawn():
    root = drawn(row("a", None, None, None), row("b", 2.0, None, None))
    assert len(list(root.iter(f"{SVG}circle"))) == 1
    assert not lines(root, "mark-line")
    assert ElementTree.fromstring(forest_panel(ForestPanel("m", "", []))).tag == f"{SVG}svg"
    assert drawn(row("a", None, None, None)).tag == f"{SVG}svg"
    assert forest([]) == ""


def test_names_are_text():
    root = drawn(row("<b onload='x'>&\u202e\x1b\uffff"), marks={"</desc><script>": 0.5})
    assert not list(root.iter(f"{SVG}script"))
    said = [part.text for part in root.iter(f"{SVG}title")][1]
    assert said == "<b onload='x'>&\\u202e\\u001b\ufffd: 1.0"


def test_names_from_right_to_left_are_set_apart():
    said = [part.text for part in drawn(row("ישן")).iter(f"{SVG}title")]
    assert said == ["m", "\u2068ישן\u2069: 1.0"]


@pytest.mark.parametrize("values", [[0.0, 1.0], [5.0, 5.0], [0.0, 0.0], [-3e-9, 2e-9], [1e12, 3e12], [], [-2.0, 7.0]])
def test_axes_have_round_ticks_inside(values):
    scale = AxisScale.around(values, 0, 100)
    ticks = scale.ticks()
    assert 1 <= len(ticks) <= 6
    assert all(-0.01 <= scale(tick) <= 100.01 for tick in ticks)
    assert len(set(tick_labels(ticks))) == len(ticks)
    assert all(0 <= scale(value) <= 100 for value in values)


def test_ticks_by_hand():
    # A third of 0 to 1 is above .25, below .5: at most four steps of .25.
    assert AxisScale(0, 1, 0, 1).ticks() == [0, 0.25, 0.5, 0.75, 1]
    assert tick_labels([0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert tick_labels([-1, 0, 1]) == ["−1", "0", "1"]


def test_elements():
    assert element("g", class_="a", font_size=1.0, x=None) == '<g class="a" font-size="1"/>'
    assert element("g", "inside", x=1.23456) == '<g x="1.23">inside</g>'
    assert safe('"<') == "&quot;&lt;"
    assert safe(-0.001) == "0"
