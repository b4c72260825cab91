from dialogauge.corpus import Turn
from dialogauge.metrics.dialogue.length import Length


def test_words_and_characters():
    # "It's fine." is four words: it 's fine . ; "" has none; the emoji is one word of one character.
    metric = Length()
    rows = metric.measure([Turn("0", "It's fine."), Turn("1", ""), Turn("2", "😀")])
    assert rows.tolist() == [[4, 10], [0, 0], [1, 1]]
    assert metric.conclude(metric.summarise(rows)) == {"": 5 / 3, "characters": 11 / 3}
