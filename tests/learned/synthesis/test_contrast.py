"""Contrast pairs: labels hold, and the hypothesis does not give them away."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import chain, count
from pathlib import Path

import pytest

from dialogauge.corpus.inference import LABELS, read_inference
from dialogauge.errors import InputError
from dialogauge.learned.ruber.pairs import bare
from dialogauge.learned.synthesis import Options, Synthesis
from dialogauge.learned.synthesis.contrast.frames import filled, frames
from dialogauge.learned.synthesis.contrast.kinds import KINDS, antonyms, in_other_words, meaning, words
from dialogauge.learned.synthesis.contrast.spoken import contrasted, spoken
from dialogauge.learned.synthesis.dialogues import gather
from tests.learned.synthesis.synthesis_dialogues import turns

MINIMAL = Path(__file__).parents[1] / "entailment/minimal_pairs.jsonl"


def counting():
    """Numbers that go round, in place of chance."""
    numbers = count()
    return lambda below: next(numbers) * 7 % below


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "yes_no"])
def test_every_frame_can_be_filled_and_contrasted(kind):
    below = counting()
    for frame in frames()[kind]:
        assert len(frame.yes) > 1
        assert frame.other
        values = frame.draw(below)
        changed = frame.contrasted(values, below)
        texts = [filled(wording, values) for wording in (*frame.yes, *frame.no, *frame.other, *frame.question)]
        assert not any("{" in text for text in texts)
        if not frame.no:
            for wording in frame.yes:
                assert filled(wording, values) != filled(wording, changed), wording


def test_words_that_say_the_same_are_no_contrast():
    assert meaning("three") == meaning("3")
    assert meaning("Mother") == meaning("mom")
    assert in_other_words("I have three cats.", 1.0, 0.0) == "I have 3 cats."


def test_statements_of_conversations():
    found = spoken(
        ["i have three cats. do you have three cats? if i have three cats", "My room is clean", "we aren't three"]
    )
    assert [statement.text for statement in found["numbers"]] == ["i have three cats"]
    assert contrasted("antonyms", found["antonyms"][0], lambda _: 0) == "My room is dirty"
    (cats,) = found["numbers"]
    assert contrasted("numbers", cats, lambda _: 0) == "i have two cats"


def test_antonyms_are_mutual():
    table = antonyms()
    assert table["clean"] == ("dirty",)
    assert all(word in table[other] for word, others in table.items() for other in others)


@pytest.fixture(scope="module")
def pairs():
    options = Options(contrast=dict.fromkeys(KINDS, 0.05), splits=(1, 0, 0), history=(1, 2, 3))
    return list(Synthesis(gather(turns(60), 0, options.split_shares), options))


def test_every_kind_has_as_many_of_each_label(pairs):
    counts = Counter((pair.source, pair.label) for pair in pairs)
    for kind in KINDS:
        assert max(counts[kind, label] for label in LABELS) - min(counts[kind, label] for label in LABELS) <= 2
        assert counts[kind, "neutral"] > 5


def test_off_by_default():
    assert Options().contrast == {}
    with pytest.raises(InputError, match="contrast"):
        Options(contrast={"weather": 0.1})
    with pytest.raises(InputError, match="leave room"):
        Options(contrast={"numbers": 0.9})


def test_the_minimal_pairs_are_as_they_are_said_to_be(pairs):
    found = list(read_inference(MINIMAL))
    assert Counter((pair.source, pair.label) for pair in found) == {
        (kind, label): 25
        for kind in ("numbers", "places", "family", "antonyms")
        for label in LABELS
        if label != "neutral"
    }
    lines = MINIMAL.read_text(encoding="utf-8").splitlines()
    assert len({json.dumps([json.loads(line)[name] for name in ("premise", "hypothesis")]) for line in lines}) == 200
    learned = {(" ".join(pair.premise), bare(pair.hypothesis)) for pair in pairs}
    assert not learned & {(" ".join(pair.premise), bare(pair.hypothesis)) for pair in found}


def test_no_frame_makes_a_minimal_pair():
    """Neither with its own words nor with others of the same meaning."""
    found = [[*(text for text in pair.premise), pair.hypothesis] for pair in read_inference(MINIMAL)]
    for frame in chain.from_iterable(frames().values()):
        wordings = [pattern(wording, frame) for wording in (*frame.yes, *frame.no)]
        for texts in found:
            *premise, hypothesis = [plain(text) for text in texts]
            matched = any(wording.fullmatch(hypothesis) for wording in wordings)
            assert not (matched and any(wording.fullmatch(text) for wording in wordings for text in premise)), texts


def pattern(wording, frame):
    """What can be made of a wording, in lower case."""
    parts = re.split(r"(\{[a-z_]+2?\})", plain(wording))
    return re.compile(
        "".join(one_of(part.strip("{}2"), frame) if part[:1] == "{" else re.escape(part) for part in parts)
    )


def one_of(slot, frame):
    options = chain.from_iterable(frame.pairs) if slot in ("a", "b") else words()[slot]
    return "(?:" + "|".join(re.escape(plain(option)) for option in options) + ")"


def plain(text):
    for one, other in (("mom", "mother"), ("dad", "father"), ("grandma", "grandmother"), ("grandpa", "grandfather")):
        text = re.sub(rf"\b{one}\b", other, text.lower())
    return text.rstrip(".!?")


def test_frames_to_validate_with_are_not_learned_from():
    every = frames()
    assert all(0 < sum(frame.held for frame in every[kind]) < len(every[kind]) / 3 for kind in KINDS)
    assert every["colours"][5].held
    assert "The hair of my {family} is {colour}." in every["colours"][5].yes
    shares = {"train": (1, 0, 0), "validation": (0, 1, 0), "test": (0, 0, 1)}
    about_hair = {name: [text for text in _colours(splits) if "hair of my" in text] for name, splits in shares.items()}
    assert not about_hair["train"]
    assert about_hair["validation"]
    assert about_hair["test"]


def _colours(splits):
    options = Options(contrast={"colours": 0.5}, splits=splits)
    made = Synthesis(gather(turns(60), 0, options.split_shares), options)
    return [pair.hypothesis for pair in made if pair.source == "colours" and pair.label != "neutral"]
