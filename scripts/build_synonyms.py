"""Builds the synonym table that METEOR uses from a WordNet 3.0 `dict` directory.

The table is gzipped text. After a first line that says what it is come eight blocks, set apart by empty
lines: for nouns, verbs, adjectives and adverbs each the lemmas (`lemma TAB names`) and the exceptional
inflections (`form TAB base forms`), sorted. A lemma's names are those of all its synsets that are one
lower-case word; a lemma without any is left out. The same WordNet gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import sys
from collections.abc import Iterable
from pathlib import Path

TABLE = Path(__file__).parents[1] / "src/dialogauge/metrics/data/wordnet-3.0-synonyms.txt.gz"
FIRST_LINE = "synonyms of WordNet 3.0, Copyright 2006 by Princeton University; see WORDNET-LICENSE"
PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")


def read_synsets(path: Path) -> dict[str, list[str]]:
    """Synset offset -> names. A line of a data file: offset, lexicographer file, type, number of words in
    hexadecimal, then word and lexical id in turn (wndb(5WN))."""
    synsets = {}
    for fields in _records(path):
        count = int(fields[3], 16)
        synsets[fields[0]] = [_without_marker(name) for name in fields[4 : 4 + 2 * count : 2]]
    return synsets


def read_lemmas(path: Path, synsets: dict[str, list[str]]) -> dict[str, list[str]]:
    """Lemma -> one-word lower-case names of its synsets. A line of an index file: lemma, part of speech,
    number of synsets, ..., their offsets."""
    lemmas = {}
    for fields in _records(path):
        offsets = fields[-int(fields[2]) :]
        names = {name for offset in offsets for name in synsets[offset] if _can_match(name)}
        if names:
            lemmas[fields[0]] = sorted(names)
    return lemmas


def read_exceptions(path: Path) -> dict[str, list[str]]:
    """Inflected form -> base forms; where a form is listed twice, the later line stands, as in NLTK."""
    return {form: bases for form, *bases in _records(path)}


def build_table(wordnet: Path) -> bytes:
    """The gzipped table."""
    blocks = [FIRST_LINE]
    for part in PARTS_OF_SPEECH:
        synsets = read_synsets(wordnet / f"data.{part}")
        blocks.append(_block(read_lemmas(wordnet / f"index.{part}", synsets)))
        blocks.append(_block(read_exceptions(wordnet / f"{part}.exc")))
    return _compress("\n\n".join(blocks).encode())


def _records(path: Path) -> Iterable[list[str]]:
    """The fields of each line but those of the licence at the top, which begin with a space."""
    with path.open(encoding="ascii") as lines:
        for line in lines:
            if not line.startswith(" "):
                yield line.partition(" | ")[0].split()


def _without_marker(name: str) -> str:
    """The name without the marker of where an adjective may stand: `galore(ip)`."""
    return name.partition("(")[0]


def _can_match(name: str) -> bool:
    return "_" not in name and name == name.lower()


def _block(entries: dict[str, list[str]]) -> str:
    return "\n".join(f"{key}\t{' '.join(entries[key])}" for key in sorted(entries))


def _compress(content: bytes) -> bytes:
    """Gzip without a time or a name in its header. `gzip.compress` would add a mark of the platform."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Build the synonym table of METEOR from WordNet 3.0.",
        epilog="example: python scripts/build_synonyms.py ~/nltk_data/corpora/wordnet",
    )
    parser.add_argument("wordnet", type=Path, help="directory with index.*, data.* and *.exc")
    parser.add_argument("--out", type=Path, default=TABLE, help="where the table goes (default: into the package)")
    options = parser.parse_args()
    try:
        table = build_table(options.wordnet)
    except FileNotFoundError as error:
        print(
            f"{error.filename}: not found; expected a WordNet directory with index.noun and so on",
            file=sys.stderr,
        )
        return 2
    options.out.write_bytes(table)
    print(f"{options.out}: {len(table):,} bytes; set TABLE in dialogauge/metrics/overlap/meteor.py to")
    print(f"wordnet-3.0@{hashlib.sha256(table).hexdigest()[:8]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
