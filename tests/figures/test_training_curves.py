"""The figure of a training."""

import pytest

from dialogauge.errors import InputError
from dialogauge.figures import plot_training
from dialogauge.figures.studies import _draw_training


def card(networks, kind="ranking_accuracy"):
    epochs = [
        {"epoch": 1, "loss": 0.7, "validation_loss": 0.6, kind: 0.7},
        {"epoch": 2, "loss": 0.5, "validation_loss": 0.4, kind: 0.8},
        {"epoch": 3, "loss": 0.3, "validation_loss": 0.5, kind: 0.9},
    ]
    return {"curves": [{"best": 2, "epochs": epochs}] * networks, "validation": {"pairs": 120, kind: 0.8}}


@pytest.mark.parametrize("kind", ["ranking_accuracy", "accuracy"])
@pytest.mark.parametrize("networks", [1, 5])
def test_lines_and_dots(networks, kind):
    figure = _draw_training(card(networks, kind))
    losses, accuracies = figure.axes
    assert accuracies.get_title() == kind.replace("_", " ")
    said = " ".join(text.get_text().replace("\n", " ") for text in figure.texts)
    assert {
        "ranking_accuracy": "the true response of 120 pairs held back scores above a random one",
        "accuracy": "accuracy: how often the class of 120 pairs held back is told right",
    }[kind] in said
    assert ("highest accuracy" in said) == (kind == "accuracy")
    drawn = [list(line.get_ydata()) for line in losses.lines]
    assert drawn.count([0.7, 0.5, 0.3]) == networks
    assert drawn.count([0.6, 0.4, 0.5]) == networks
    assert drawn.count([0.4]) == networks  # the best epoch
    assert [list(line.get_ydata()) for line in accuracies.lines].count([0.8]) == networks


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_same_card_same_bytes(kind, at_two_times):
    today, then = at_two_times(lambda path: plot_training(card(2), path), kind)
    assert today == then


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="cannot draw into this kind of file"):
        plot_training(card(1), tmp_path / "curves.txt")
