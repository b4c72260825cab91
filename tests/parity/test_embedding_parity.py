"""The formulas of Liu et al. (2016), section 3.2, written out word by word, on vectors that are read without us."""

import gzip
import math

import numpy as np
import pytest

from dialogauge import load
from dialogauge.corpus import Corpus
from dialogauge.metrics.registry import metric_class
from dialogauge.text.words import words
from tests.encode.models import encoders, minilm, safetensors, torch, transformers
from tests.shared import annotation, shared

NAMES = ("embedding_average", "embedding_greedy", "embedding_extrema")
GLOVE = "vectors/glove.6B.100d.first50k.txt.gz"


def cosine(left, right):
    product = sum(x * y for x, y in zip(left, right, strict=True))
    lengths = math.sqrt(sum(x * x for x in left)) * math.sqrt(sum(y * y for y in right))
    return product / lengths if lengths else 0.0


def average(response, reference):
    """The sum of the word vectors, divided by its length."""
    sums = [[sum(values) for values in zip(*text, strict=True)] for text in (response, reference)]
    units = [[value / math.sqrt(sum(each * each for each in total)) for value in total] for total in sums]
    return cosine(*units)


def one_way(response, reference):
    return sum(max(cosine(word, other) for other in reference) for word in response) / len(response)


def greedy(response, reference):
    return (one_way(response, reference) + one_way(reference, response)) / 2


def extreme(values):
    """The largest where it is larger than the smallest is far out, else the smallest."""
    return max(values) if max(values) > abs(min(values)) else min(values)


def extrema(response, reference):
    return cosine(*([extreme(values) for values in zip(*text, strict=True)] for text in (response, reference)))


def maxima(response, reference):
    return cosine(*([max(values) for values in zip(*text, strict=True)] for text in (response, reference)))


FORMULAS = {"embedding_average": average, "embedding_greedy": greedy, "embedding_extrema": extrema}


def greedy_over_all(response, reference, counts):
    """As the FBD paper's code has it: divided by all words of a text, those without a vector included."""
    ways = ((response, reference), (reference, response))
    return sum(one_way(*way) * len(way[0]) / count for way, count in zip(ways, counts, strict=True)) / 2


def compare(turns, vectors, encoder, compat=None):
    """Our scores of the turns beside the formulas', given what word vectors each text has."""
    known = {text: vectors(text.strip()) for turn in turns for text in (turn.response, turn.references[0])}
    for name in NAMES:
        formula = maxima if compat and name == "embedding_extrema" else FORMULAS[name]
        metric = metric_class(name, compat)(encoder=encoder).prepare(Corpus(turns), encoders=encoders())
        found = metric.measure(turns)[:, 0]
        for turn, score in zip(turns, found, strict=True):
            response, reference = known[turn.response], known[turn.references[0]]
            expected = formula(response, reference) if response and reference else 0.0
            if compat and name == "embedding_greedy" and response and reference:
                counts = len(turn.response.split()), len(turn.references[0].split())
                expected = greedy_over_all(response, reference, counts)
            assert score == pytest.approx(expected, abs=1e-5), (name, turn)


@pytest.fixture(scope="module")
def dialogues():
    return load(annotation("dailyz")).turns


def test_the_input_vectors_of_minilm(dialogues):
    directory = minilm().files.directory
    table = safetensors.load_file(directory / "model.safetensors")["embeddings.word_embeddings.weight"].double()
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)

    def vectors(text):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        return [table[number].tolist() for number in ids if number != tokenizer.unk_token_id]

    compare(dialogues[::20], vectors, "static:minilm")


def test_minilm_in_context(dialogues):
    directory = minilm().files.directory
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    model = transformers.AutoModel.from_pretrained(directory).eval()

    def vectors(text):
        with torch.inference_mode():
            return model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0, 1:-1].double().tolist()

    compare(dialogues[::40], vectors, "minilm")


@pytest.fixture(scope="module")
def glove(dialogues):
    """The vectors of the words of the dialogues, as the file has them."""
    texts = {text.lower() for turn in dialogues for text in (turn.response, turn.references[0])}
    wanted = {word for text in texts for word in (*text.split(), *words(text))}
    with gzip.open(shared(GLOVE), "rt", encoding="utf-8") as lines:
        split = (line.split(" ") for line in lines if line.split(" ", 1)[0] in wanted)
        return {word: [float(np.float32(value)) for value in values] for word, *values in split}


@pytest.mark.parametrize("compat", [None, "fbd-paper"])
def test_glove(dialogues, glove, compat):
    split = str.split if compat else words

    def vectors(text):
        return [glove[word.lower()] for word in split(text) if word.lower() in glove]

    assert len(glove) > 500
    compare(dialogues[::5], vectors, f"static:{shared(GLOVE)}", compat)
