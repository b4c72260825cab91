import gzip
import hashlib
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from dialogauge.metrics.overlap.meteor import FILE, TABLE, synonyms

DATA = files("dialogauge.metrics").joinpath("data")
SCRIPT = Path(__file__).parents[3] / "scripts" / "build_synonyms.py"


def test_signatures_name_the_table_that_is_there():
    assert f"wordnet-3.0@{hashlib.sha256(DATA.joinpath(FILE).read_bytes()).hexdigest()[:8]}" == TABLE


def test_the_licence_comes_along():
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in DATA.joinpath("WORDNET-LICENSE").read_text("ascii")


def test_names_of_all_senses():
    # WordNet 3.0 has one synset for "automobile" as a noun (car, auto, automobile, machine, motorcar) and one
    # as a verb (automobile alone).
    assert synonyms("automobile") == {"car", "auto", "automobile", "machine", "motorcar"}


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("mice", "mouse"),
        ("wolves", "wolf"),
        ("firemen", "fireman"),
        ("carries", "carry"),
        ("went", "go"),
        ("finer", "fine"),
    ],
)
def test_base_forms_are_found(word, base):
    assert base in synonyms(word)


def test_an_exception_replaces_the_suffix_rules():
    # "bases" is listed as the plural of "base" and "basis"; the rule "ses -> s" would add "bas", "ba", barium.
    assert {"base", "basis"} <= synonyms("bases")
    assert "barium" in synonyms("bas")
    assert "barium" not in synonyms("bases")


def test_names_with_capitals_or_of_several_words_are_left_out():
    # The names are Paris, City_of_Light, French_capital and capital_of_France, and names of people and a genus.
    assert synonyms("paris") == set()


@pytest.mark.parametrize("word", ["", ".", "happi", "😀", "你好", "zzzz", "\n"])
def test_unknown_words_have_none(word):
    assert synonyms(word) == set()


def write_wordnet(folder):
    licence = "  1 This software and database is being provided to you  \n"
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}"):
            (folder / name).write_text(licence)
        (folder / f"{part}.exc").write_text("")
    with (folder / "data.noun").open("a") as file:
        file.write("00000010 03 n 03 dog 0 domestic_dog 0 Canis 1 001 @ 00000020 n 0000 | a pet (of course)  \n")
        file.write("00000020 03 n 01 Rex 0 000 | a name  \n")
    with (folder / "index.noun").open("a") as file:
        file.write("dog n 1 1 @ 1 1 00000010  \n")
        file.write("domestic_dog n 1 1 @ 1 0 00000010  \n")
        file.write("rex n 1 0 1 0 00000020  \n")
    (folder / "noun.exc").write_text("dogz dog\n")
    with (folder / "data.adj").open("a") as file:
        file.write("00000030 00 s 02 galore(ip) 0 abounding 0 000 | in number  \n")
    with (folder / "index.adj").open("a") as file:
        file.write("galore a 1 0 1 0 00000030  \n")


def build(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def test_the_table_is_built_from_wordnet_files(tmp_path):
    write_wordnet(tmp_path)
    for name in ("one", "two"):
        assert build(tmp_path, "--out", tmp_path / name).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    _, *blocks = gzip.decompress((tmp_path / "one").read_bytes()).decode().split("\n\n")
    assert blocks == [
        "dog\tdog\ndomestic_dog\tdog",
        "dogz\tdog",
        "",
        "",
        "galore\tabounding galore",
        "",
        "",
        "",
    ]


def test_a_folder_without_wordnet_is_refused(tmp_path):
    done = build(tmp_path)
    assert done.returncode == 2
    assert "data.noun" in done.stderr
