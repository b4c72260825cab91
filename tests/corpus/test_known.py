"""Known corpora: the list is sound, and what it says about names can be found again in the files."""

import gzip
import hashlib
import re

import pytest

from dialogauge.corpus import load
from dialogauge.corpus.known import KnownCorpus, corpora, with_content, with_contents
from dialogauge.corpus.readers.registry import READERS
from tests.corpus.files import write, write_lines
from tests.shared import SIX, annotation, json_lines, shared

ITEM = {"src": "a", "refs": ["r"], "hyps": ["b", "c"], "human_scores": [[1, 2], [3, 4]]}


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A file that is made known, with two faults."""
    path = write_lines(tmp_path / "toy.json", ITEM)
    known = KnownCorpus(
        name="toy",
        title="",
        reader="fbd",
        turns=2,
        systems=("big", "small"),
        dimensions=("fun", "sense"),
        cite="",
        papers=(),
        source="",
        licence="",
        sha256={"toy.json": hashlib.sha256(path.read_bytes()).hexdigest()},
        faults=("one.", "two."),
    )
    monkeypatch.setattr("dialogauge.corpus.known.corpora", lambda: (known,))
    return path


@pytest.mark.parametrize("name", ["other.json", "other.json.gz"])
def test_names_and_faults_of_a_known_file(toy, tmp_path, name):
    path = write(tmp_path / name, toy.read_bytes())
    corpus = load(path)
    assert corpus.systems == ("big", "small")
    assert [dict(turn.ratings) for turn in corpus] == [{"fun": (1,), "sense": (2,)}, {"fun": (3,), "sense": (4,)}]
    assert [(caveat.code, caveat.message) for caveat in corpus.caveats] == [
        ("known_fault", f"{path} is toy: one."),
        ("known_fault", f"{path} is toy: two."),
    ]
    assert corpus.select(["small"]).caveats == corpus.caveats
    # Of the bytes on disk, though it was recognised by its content.
    assert corpus.files[0].sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_papers_are_cited_with_all_authors():
    assert not [paper for known in corpora() for paper in known.papers if "et al" in paper]


def test_sources_begin_with_the_authors_own_pages():
    """Copies that others keep come after them."""
    pages = {known.name: known.source.partition(",")[0] for known in corpora()}
    assert set(pages.values()) == {
        "github.com/yhlleo/frechet-bert-distance",
        "github.com/li3cmz/GRADE",
        "shikib.com/usr",
        "shikib.com/fed_data.json",
        "github.com/alexa/conture",
        "github.com/PlusLabNLP/PredictiveEngagement",
        "yanran.li/dailydialog",
        "parl.ai/downloads/convai2",
    }


@pytest.mark.parametrize(("name", "system"), [("fbd-dailyz", "s07"), ("fbd-personaz", "s04")])
def test_negative_samples_are_called_what_their_authors_call_them(name, system):
    (known,) = (known for known in corpora() if known.name == name)
    assert any(
        fault.startswith(f"{system} gives random responses") and "negative-sample" in fault for fault in known.faults
    )


def test_any_change_makes_a_file_unknown(toy):
    corpus = load(write(toy, toy.read_bytes() + b"\n"))
    assert corpus.systems == ("s00", "s01")
    assert corpus.caveats == ()


def test_the_list_is_sound():
    names = [corpus.name for corpus in corpora()]
    assert len(set(names)) == len(names) == 18
    for corpus in corpora():
        assert corpus.reader in READERS
        assert all(re.fullmatch("[0-9a-f]{64}", sha256) for sha256 in corpus.sha256.values())
        assert corpus.cite.split(" et al.")[0].split(" &")[0] in corpus.papers[0]
        assert corpus.cite.rstrip("ab")[-4:] in corpus.papers[0]
        assert re.search(
            r"github.com/\S+, .*\(commit [0-9a-f]{8}\)|github.com/\S+ \(commit [0-9a-f]{8}\)", corpus.source
        )
        assert corpus.title
        assert corpus.licence


def test_a_corpus_of_several_files_is_known_when_all_are_there():
    (grade,) = [corpus for corpus in corpora() if corpus.name == "grade-convai2"]
    hashes = set(grade.sha256.values())
    assert with_contents(hashes | {"0" * 64}) == [grade]
    assert with_contents(hashes - {min(hashes)}) == []
    assert with_content(max(hashes)) is None


PATHS = {
    **{f"fbd-{name}": f"corpora/fbd_six/{name}_annotation.json" for name in SIX},
    **{
        f"grade-{name}": f"corpora/grade/eval_data/{name}" for name in ("dailydialog", "empatheticdialogues", "convai2")
    },
    "usr-persona": "corpora/usr_persona/pc_usr_data.json",
    "fed": "corpora/fed/fed_data.json",
    "conture": "corpora/conture/data.json",
    "bert-ruber": "corpora/bert_ruber/Eng_Scores_queries_gen_gtruth_replies.csv",
    **{
        f"dailydialog-{part}": f"training/dailydialog/dialogues_{part}.txt.gz"
        for part in ("train", "validation", "test")
    },
    **{f"convai2-valid-{kind}": f"training/convai2/valid_{kind}_original_no_cands.txt.gz" for kind in ("both", "self")},
}


@pytest.mark.parametrize("known", corpora(), ids=lambda known: known.name)
def test_the_list_agrees_with_the_files(known):
    path = shared(PATHS[known.name])
    corpus = load(path)
    assert {file.reader for file in corpus.files} == {known.reader}
    assert len(corpus) == known.turns
    assert [caveat.message for caveat in corpus.caveats] == [f"{path} is {known.name}: {each}" for each in known.faults]
    if known.systems:
        assert corpus.systems == known.systems
        assert tuple(dict.fromkeys(dimension for turn in corpus for dimension in turn.ratings)) == known.dimensions


def letters(text):
    return re.sub(r"\W+", "", text.lower())


def responses(corpus):
    return {system: [letters(turn.response) for turn in turns] for system, turns in corpus.by_system.items()}


@pytest.mark.parametrize(
    ("name", "other"),
    [("dailyh", "dailydialog"), ("empathetic", "dailydialog"), ("convai2", "convai2")],
)
def test_systems_of_grade(name, other):
    """Every response of a system stands in GRADE's file of the same name; of a mixture, in one of the two."""
    grade = {
        system: set(texts) for system, texts in responses(load(shared(f"corpora/grade/eval_data/{other}"))).items()
    }
    for system, texts in responses(load(annotation(name))).items():
        if system.startswith("mixture"):
            assert set(texts) <= set().union(*grade.values())
            assert not any(set(texts) <= each for each in grade.values())
        else:
            assert set(texts) <= grade[system]


def test_systems_of_usr():
    usr = responses(load(shared(PATHS["usr-persona"])))
    for system, texts in responses(load(annotation("personam"))).items():
        assert texts == usr[system]
    references = [letters(turn.references[0]) for turn in load(annotation("personam")).by_system["Seq2Seq"]]
    assert references == usr["Original Ground Truth"]


def test_faults_of_empathetic_and_convai2():
    daily, empathetic = (json_lines(annotation(name)) for name in ("dailyh", "empathetic"))
    assert [(item["src"], item["refs"]) for item in daily] == [(item["src"], item["refs"]) for item in empathetic]
    own = load(shared(PATHS["grade-convai2"])).by_system
    for system, turns in load(annotation("convai2")).by_system.items():
        answers = {}
        for turn in own[system]:
            answers.setdefault(letters(turn.response), set()).add(letters("".join(turn.context)))
        right = sum(
            any(letters(turn.context[0]) in context for context in answers[letters(turn.response)]) for turn in turns
        )
        assert (right == len(turns)) == (system == "bert_ranker")


def test_faults_of_dailydialog():
    parts = {
        part: gzip.decompress(shared(PATHS[f"dailydialog-{part}"]).read_bytes()).decode().strip("\n").split("\n")
        for part in ("train", "validation", "test")
    }
    train = [letters(line) for line in parts["train"]]
    seen = set(train)
    found = {"train": len(train) - len(seen)}
    found |= {part: sum(letters(line) in seen for line in parts[part]) for part in ("validation", "test")}
    for part, number in found.items():
        (fault,) = next(corpus.faults for corpus in corpora() if corpus.name == f"dailydialog-{part}")
        assert fault.startswith(f"{number} of its {len(parts[part])} dialogues")


def test_fault_of_bert_ruber():
    queries = {turn.context[-1] for turn in load(shared(PATHS["bert-ruber"]))}
    answered = {turn.context[-1] for turn in load(shared(PATHS["dailydialog-train"]))}
    (fault,) = next(corpus.faults for corpus in corpora() if corpus.name == "bert-ruber")
    assert fault.startswith(
        f"{len(queries & answered)} of the {len(queries)} queries are also answered in dailydialog-train"
    )
