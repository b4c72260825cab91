"""The scores of the bert-score package, which pads nothing at batch size 1."""

import shutil

import numpy as np
import pytest

from dialogauge import load
from dialogauge.corpus import Corpus, Turn
from dialogauge.metrics.embedding.bertscore import LAYERS, BertScore
from tests.encode.models import LIMIT, build, change_json, encoders, minilm, torch
from tests.shared import annotation, json_lines, shared

bert_score = pytest.importorskip(
    "bert_score", reason="needs bert-score to compare with: pip install bert-score==0.3.13"
)

F1, PRECISION, RECALL = range(3)


def ours(turns, **options):
    """F1, precision and recall of each turn."""
    metric = BertScore(**options).prepare(Corpus(list(turns)), encoders=encoders())
    return metric.measure(list(turns))[:, :3]


def theirs(turns, directory, layers, **options):
    """The same of the package. References are a list where any turn has several."""
    several = any(len(turn.references) > 1 for turn in turns)
    references = [list(turn.references) if several else turn.references[0] for turn in turns]
    precision, recall, f1 = bert_score.score(
        [turn.response for turn in turns],
        references,
        model_type=str(directory),
        num_layers=layers,
        batch_size=1,
        nthreads=0,
        **options,
    )
    return np.stack([f1.numpy(), precision.numpy(), recall.numpy()], axis=1)


def near(left, right):
    np.testing.assert_allclose(left, right, rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["dailyz", "personam"])
def test_golden_scores(corpus):
    minilm()
    loaded = load(annotation(corpus))
    rows = json_lines(shared(f"golden/{corpus}.bertscore_nopad.jsonl"))
    assert len(rows) == len(loaded)
    scores = dict(zip(((turn.system, turn.id) for turn in loaded), ours(loaded), strict=True))
    found = np.array([scores[loaded.systems[row["system"]], str(row["item"])] for row in rows])
    near(found, [[row["F"], row["P"], row["R"]] for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("idf", [False, True], ids=["plain", "idf"])
@pytest.mark.parametrize("corpus", ["dailyz", "personam"])
def test_the_package_on_real_text(corpus, idf):
    """Two systems; idf of a corpus of several systems counts each reference once, so each is compared on its own."""
    loaded = load(annotation(corpus))
    for system in (loaded.systems[0], loaded.systems[-1]):
        turns = loaded.by_system[system][::3]
        near(ours(turns, idf=idf), theirs(turns, minilm().files.directory, 6, idf=idf))


def test_the_layers_are_those_of_the_package():
    theirs = {name.rpartition("/")[2]: layer for name, layer in bert_score.utils.model2layers.items()}
    assert {name: theirs[name] for name in LAYERS} == LAYERS


# No empty text: with transformers 5 the package fails on it.
EDGES = [
    Turn("1", "Hello there!", references=("Hi, how are you?",)),
    Turn("2", "  stray   spaces \n", references=("stray spaces",)),
    Turn("3", "😀😀 well", references=("well 😀 !",)),
    Turn("4", "中国人", references=("Où est la gare ?",)),
    Turn("5", "the same", references=("the same",)),
    Turn("6", "yes " * 700, references=("yes " * 10_000,)),
]


def test_edges():
    near(ours(EDGES), theirs(EDGES, minilm().files.directory, 6))


def test_what_the_encoder_cannot_read_has_no_score_here():
    """The package finds two texts of one unknown token each the same."""
    turns = [Turn("1", "😀", references=("😭",))]
    assert theirs(turns, minilm().files.directory, 6)[0, F1] == pytest.approx(1, abs=1e-5)
    assert np.isnan(ours(turns)).all()


def test_an_inner_layer():
    near(ours(EDGES[:5], layer=3), theirs(EDGES[:5], minilm().files.directory, 3))


def test_several_references():
    turns = [
        Turn("1", "i am fine , thanks", references=("i am well , thank you", "what ?", "good bye")),
        Turn("2", "no", references=("a cat", "nope")),
        Turn("3", "see you tomorrow", references=("see you tomorrow",)),
    ]
    found, expected = ours(turns), theirs(turns, minilm().files.directory, 6)
    near(found[:, F1], expected[:, F1])
    # The package takes the best precision and the best recall of any reference; ours are those of the best F1.
    assert (found <= expected + 1e-5).all()


def test_several_references_with_idf():
    turns = [
        Turn("1", "i am fine , thanks", references=("i am well , thank you", "what ?")),
        Turn("2", "no", references=("a cat", "no , i am not")),
    ]
    near(ours(turns, idf=True)[:, F1], theirs(turns, minilm().files.directory, 6, idf=True)[:, F1])


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning")
def test_rescaling(tmp_path):
    baseline = tmp_path / "baseline.csv"
    lines = [f"{layer},{0.1 + layer / 50},{0.2 + layer / 40},{0.15 + layer / 45}\n" for layer in range(7)]
    baseline.write_text("LAYER,P,R,F\n" + "".join(lines))
    turns = EDGES[:5]
    for layer in (6, 3):
        found = ours(turns, layer=layer, baseline=str(baseline))
        options = {"rescale_with_baseline": True, "baseline_path": str(baseline), "lang": "en"}
        near(found, theirs(turns, minilm().files.directory, layer, **options))


def with_limit(directory):
    """The package wants the tokeniser to state one."""
    change_json(directory / "tokenizer_config.json", model_max_length=LIMIT)
    return directory


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """A small RoBERTa, and the same for the package with its space before the first word. The package asks its
    tokeniser for that space with every text, which transformers 5 passes over."""
    plain = with_limit(build("roberta", tmp_path_factory.mktemp("models") / "roberta"))
    spaced = shutil.copytree(plain, plain.parent / "spaced")
    change_json(spaced / "tokenizer_config.json", add_prefix_space=True)
    change_json(
        spaced / "tokenizer.json",
        pre_tokenizer={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    )
    return plain, spaced


@pytest.mark.parametrize("idf", [False, True], ids=["plain", "idf"])
def test_roberta(roberta, idf):
    plain, spaced = roberta
    turns = [
        Turn("1", "you like the soup", references=("the soup you like",)),
        Turn("2", " you", references=("how are you",)),
        Turn("3", "Hello , how are you today ?", references=("I 'm fine , thank you .",)),
        Turn("4", "😀 né", references=("soup",)),
    ]
    near(ours(turns, encoder=str(plain), idf=idf), theirs(turns, spaced, 3, idf=idf))


FEW = [
    Turn("1", "Hello , how are you today ?", references=("I 'm fine , thank you .",)),
    Turn("2", "you like the soup 😀", references=("the soup you like",)),
]


@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet", "electra"])
def test_other_families(family, tmp_path):
    directory = with_limit(build(family, tmp_path / family))
    near(ours(FEW, encoder=str(directory), layer=2), theirs(FEW, directory, 2))


def test_xlnet(tmp_path, monkeypatch):
    """The package does not tell XLNet that <cls> is of a segment of its own, as it was in training; we do."""

    def encode(model, ids, attention_mask, all_layers=False):
        assert (len(ids), all_layers) == (1, False)
        segments = torch.zeros_like(ids)
        segments[:, -1] = 2
        with torch.no_grad():
            return model(ids, attention_mask=attention_mask, token_type_ids=segments)[0]

    directory = with_limit(build("xlnet", tmp_path / "xlnet"))
    assert np.abs(ours(FEW, encoder=str(directory)) - theirs(FEW, directory, 3)).max() > 1e-4
    monkeypatch.setattr("bert_score.utils.bert_encode", encode)
    near(ours(FEW, encoder=str(directory)), theirs(FEW, directory, 3))
