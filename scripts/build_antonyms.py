"""Builds the table of antonyms that contrast pairs are made with, from a WordNet 3.0 `dict` directory.

The table is gzipped text: a first line that says what it is, then `word TAB antonyms`, sorted. Kept are adjectives and
adverbs whose first sense, and nouns and verbs whose first sense has an antonym pointer, where the antonym's sense is
its first too; both are one lower-case word of at least three letters that WordNet's texts have with that sense. The
same WordNet gives the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from build_synonyms import _compress, _records, _without_marker

TABLE = Path(__file__).parents[1] / "src/dialogauge/learned/synthesis/contrast/antonyms.txt.gz"
FIRST_LINE = "antonyms of WordNet 3.0, Copyright 2006 by Princeton University; see WORDNET-LICENSE"
PARTS_OF_SPEECH = ("adj", "adv")
FEWEST = 3
"""Letters."""


def read_first(path: Path) -> dict[str, str]:
    """Lemma -> the synset of its first sense, for lemmas of which texts have a sense. A line of an index file: lemma,
    part of speech, number of synsets, number of pointers, their symbols, number of senses, number of tagged senses,
    offsets (wndb(5WN))."""
    first = {}
    for fields in _records(path):
        synsets = int(fields[2])
        if int(fields[-synsets - 1]) > 0:
            first[fields[0]] = fields[-synsets]
    return first


def read_antonyms(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Word, its synset, its antonym and that one's synset. Pointers follow the words of a data line: their number, then
    symbol, offset, part of speech and the numbers of both words in hexadecimal."""
    names: dict[str, list[str]] = {}
    pointers: list[tuple[str, str, str]] = []
    for fields in _records(path):
        words = int(fields[3], 16)
        names[fields[0]] = [_without_marker(name) for name in fields[4 : 4 + 2 * words : 2]]
        start = 5 + 2 * words
        for at in range(start, start + 4 * int(fields[start - 1]), 4):
            if fields[at] == "!":
                pointers.append((fields[0], fields[at + 1], fields[at + 3]))
    for synset, other, places in pointers:
        word, antonym = int(places[:2], 16), int(places[2:], 16)
        yield names[synset][word - 1], synset, names[other][antonym - 1], other


def build_table(wordnet: Path) -> bytes:
    """The gzipped table."""
    found: dict[str, set[str]] = {}
    for part in PARTS_OF_SPEECH:
        first = read_first(wordnet / f"index.{part}")
        for word, synset, antonym, other in read_antonyms(wordnet / f"data.{part}"):
            if _usable(word) and _usable(antonym) and first.get(word) == synset and first.get(antonym) == other:
                found.setdefault(word, set()).add(antonym)
    lines = [f"{word}\t{' '.join(sorted(found[word]))}" for word in sorted(found)]
    return _compress("\n".join([FIRST_LINE, *lines]).encode() + b"\n")


def _usable(word: str) -> bool:
    return word.isalpha() and word == word.lower() and len(word) >= FEWEST


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Build the table of antonyms from WordNet 3.0.",
        epilog="example: python scripts/build_antonyms.py ~/nltk_data/corpora/wordnet",
    )
    parser.add_argument("wordnet", type=Path, help="directory with index.* and data.*")
    parser.add_argument("--out", type=Path, default=TABLE, help="where the table goes (default: into the package)")
    options = parser.parse_args()
    try:
        table = build_table(options.wordnet)
    except FileNotFoundError as error:
        print(f"{error.filename}: not found; expected a WordNet directory with index.adj and so on", file=sys.stderr)
        return 2
    options.out.write_bytes(table)
    print(f"{options.out}: {len(table):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
