"""Writes the METEOR of NLTK 3.5 for every system of the FBD paper's files: the golden numbers of
`--compat fbd-paper`.

NLTK 3.5 cannot live beside the NLTK of the tests, so this runs once, in an environment of its own:
pip install nltk==3.5, with WordNet 3.0 in a folder of NLTK's layout.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import fmean

import nltk
from nltk.corpus import wordnet
from nltk.translate.meteor_score import meteor_score

OUT = Path(__file__).parents[1] / "tests/parity/golden/meteor_nltk35.json"
VERSIONS = {"nltk": "3.5", "wordnet": "3.0"}


def system_scores(path: Path) -> list[float]:
    """The mean of each system's turns."""
    items = [json.loads(line) for line in path.read_text(encoding="utf-8").strip("\n").split("\n")]
    return [
        fmean(meteor_score(item["refs"], item["hyps"][system]) for item in items)
        for system in range(len(items[0]["hyps"]))
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Write NLTK 3.5's METEOR of every system of *_annotation.json files.",
        epilog="example: python scripts/meteor_nltk35.py ../shared/corpora/fbd_six ~/nltk_data",
    )
    parser.add_argument("corpora", type=Path, help="directory with the *_annotation.json files")
    parser.add_argument("nltk_data", type=Path, help="directory with corpora/wordnet")
    options = parser.parse_args()
    nltk.data.path.insert(0, str(options.nltk_data))
    found = {"nltk": nltk.__version__, "wordnet": wordnet.get_version()}
    if found != VERSIONS:
        print(f"expected {VERSIONS}, found {found}", file=sys.stderr)
        return 2
    paths = sorted(options.corpora.glob("*_annotation.json"))
    scores = {path.name.removesuffix("_annotation.json"): system_scores(path) for path in paths}
    OUT.write_text(json.dumps({**VERSIONS, "scores": scores}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
