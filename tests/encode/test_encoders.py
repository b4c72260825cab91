"""Encoders of other packages, whole and broken."""

import json

import numpy as np
import pytest

from dialogauge import Corpus, Turn, evaluate
from dialogauge.cli.main import main
from dialogauge.encode.encoders import Encoders
from dialogauge.errors import InputError
from tests.installed import install

ENCODERS = """
import numpy as np
from dialogauge.encode import Encoder, Pooled, fully_covered

class Letters(Encoder):
    title = "how often each letter stands in a text; letters:N counts only N"

    def __init__(self, rest):
        self.most = int(rest or 26)
        self.identity = f"letters-{self.most}"

    def recipe(self):
        return {"enc": self.identity}

    def pooled(self, texts, pool="mean", layer=None):
        joined = [text if isinstance(text, str) else " ".join(text) for text in texts]
        counts = [[text.lower().count(chr(97 + place)) for place in range(self.most)] for text in joined]
        vectors = np.array(counts, dtype=np.float32).reshape(len(texts), self.most)
        return Pooled(vectors, np.zeros(len(texts), dtype=np.int32), fully_covered(len(texts)))

class Hollow(Encoder):
    pass

class Nameless(Letters):
    def __init__(self, rest):
        pass

class Faulty(Letters):
    title = "letters, but for a fault"

    def __init__(self, rest):
        super().__init__("26")
        self.fault = rest

    def recipe(self):
        return super().recipe() if self.fault != "recipe" else "letters"

    def tokens(self, texts, layer=None):
        return [None for text in texts]

    def pooled(self, texts, pool="mean", layer=None):
        found = super().pooled(texts)
        if self.fault == "raises":
            raise KeyError("e")
        if self.fault == "leaves":
            raise SystemExit(4)
        if self.fault == "few":
            return super().pooled(texts[1:])
        if self.fault == "flat":
            return Pooled(found.vectors[:, 0], found.dropped, found.coverage)
        if self.fault == "nan":
            found.vectors[0] = np.nan
        print("on stdout, where results go")
        return found.vectors if self.fault == "bare" else found

text = "no encoder"
"""
POINTS = {
    "letters": "Letters",
    "hollow": "Hollow",
    "nameless": "Nameless",
    "faulty": "Faulty",
    "text": "text",
    "minilm": "Letters",
}
REFUSED = {
    "minilm": "the name is taken by dialogauge itself",
    "hollow": "it does not define recipe; it defines neither tokens nor pooled"
    "; title: expected a line on what it is, found ''",
    "text": "it is no subclass of dialogauge.encode.Encoder",
}


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    points = {"dialogauge.encoders": {name: f"letter_encoders:{what}" for name, what in POINTS.items()}}
    install(tmp_path, "letter-encoders", points, letter_encoders=ENCODERS)
    monkeypatch.syspath_prepend(tmp_path)


def refusal(name):
    return (
        f"encoder '{name}' of the package letter-encoders (letter_encoders:{POINTS[name]}) cannot be used:"
        f" {REFUSED[name]}. Update or uninstall the package; docs/plug-ins.md says what plug-ins need"
    )


def test_the_list_has_it_and_names_broken_ones(capsys):
    assert main(["encoders", "--format", "json"]) == 0
    shown = capsys.readouterr()
    listed = {row["name"]: row for row in json.loads(shown.out)["encoders"]}
    assert listed["letters"]["what"].startswith("how often each letter")
    assert listed["minilm"]["what"] != listed["letters"]["what"]
    assert not {"hollow", "text"} & listed.keys()
    assert shown.err.splitlines() == [f"warning: {refusal(name)}" for name in REFUSED]


def test_metrics_take_it_by_name_with_what_stands_after_the_colon():
    # Counts of a to c: (2, 1, 0) for "aab", (1, 1, 0) for "ab". Distance of the means: 1 + 0 + 0, without spread 1.
    turns = [Turn(str(number), "aab", references=("ab",)) for number in range(4)]
    result = evaluate(Corpus(turns), "fbd", encoder="letters:3", cache=False)
    score = result.scores[0]
    assert score.value == pytest.approx(1.0)
    assert "|enc:letters-3|" in score.signature


def test_the_same_name_is_opened_once():
    encoders = Encoders()
    assert encoders.get("letters:5") is encoders.get("letters:5")
    assert encoders.get("letters").pooled(["az"]).vectors.tolist() == [[1.0, *np.zeros(24), 1.0]]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hollow", refusal("hollow")),
        ("nameless", "the encoder 'nameless' of another package failed: TypeError: it has no identity"),
        ("letters:x", "the encoder 'letters:x' of another package failed: ValueError: invalid literal for int()"),
    ],
)
def test_one_that_is_broken_is_refused(name, message):
    with pytest.raises(InputError) as error:
        Encoders().get(name)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("raises", "KeyError: 'e'"),
        ("leaves", "SystemExit: 4"),
        ("few", "ValueError: pooled: expected 8 rows, found 7"),
        ("flat", "TypeError: pooled: expected vectors in rows, found an array of shape (8,)"),
        ("nan", "ValueError: pooled: expected finite numbers, found others among them"),
        ("bare", "TypeError: pooled: expected a Pooled, found array("),
        ("recipe", "TypeError: recipe: expected a dict, found 'letters'"),
    ],
)
def test_what_is_wrong_while_it_encodes_is_told_as_its_own(fault, message):
    turns = [Turn(str(number), "aab", references=("ab",)) for number in range(4)]
    with pytest.raises(InputError) as error:
        evaluate(Corpus(turns), "fbd", encoder=f"faulty:{fault}", cache=False)
    assert str(error.value).startswith(f"the encoder 'faulty:{fault}' of another package failed: {message}")


def test_tokens_are_looked_at_and_what_is_printed_is_kept_from_results(capsys):
    encoder = Encoders().get("faulty")
    with pytest.raises(InputError, match=r"TypeError: tokens: expected a list of Tokens, found \[None\]"):
        encoder.tokens(["a"])
    assert encoder.pooled(["a"]).vectors.shape == (1, 26)
    assert capsys.readouterr() == ("", "on stdout, where results go\n")


def test_scores_say_where_two_packages_have_the_encoder(tmp_path):
    install(tmp_path, "more-encoders", {"dialogauge.encoders": {"letters": "letter_encoders:Letters"}})
    turns = [Turn(str(number), "aab", references=("ab",)) for number in range(4)]
    told = [caveat.message for caveat in evaluate(Corpus(turns), "fbd", encoder="letters", cache=False).caveats]
    taken = "(letter_encoders:Letters) cannot be used: the name is taken by the package letter-encoders."
    assert [message for message in told if f"encoder 'letters' of the package more-encoders {taken}" in message]


def test_another_precision_of_vectors_from_a_file_is_said_to_change_nothing(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("hello 1 2\nthere 3 4\n")
    corpus = Corpus([Turn("0", "hello there", ("hi",), references=("hello",))])
    name = f"embedding_average[encoder=static:{file},dtype=bfloat16]"
    (said,) = [each for each in evaluate(corpus, name).caveats if each.code == "dtype_ignored"]
    assert said.message == f"static:{file} counts in float32 alone: dtype=bfloat16 changes nothing"
    plain = evaluate(corpus, name.replace("bfloat16", "float32"))
    assert "dtype_ignored" not in {each.code for each in plain.caveats}
