"""Writes the conversations of the package chitchat-dataset (MIT licence) as JSON lines that dialogauge reads.

    pip install --no-deps chitchat-dataset==0.9.0
    python scripts/chitchat_conversations.py chitchat.jsonl

Messages that one person sent in a row are one utterance. Conversations of a single utterance are left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any


def conversations(dataset: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for dialogue, conversation in sorted(dataset.items()):
        messages = (message for turn in conversation["messages"] for message in turn if message["text"].strip())
        utterances = [_joined(messages) for _, messages in groupby(messages, key=itemgetter("sender"))]
        if len(utterances) > 1:
            yield {"dialogue": dialogue, "utterances": utterances}


def _joined(messages: Iterable[dict[str, Any]]) -> str:
    return " ".join(" ".join(message["text"].split()) for message in messages)


def main(out: str) -> None:
    package = find_spec("chitchat_dataset")
    if package is None or package.origin is None:
        raise SystemExit("pip install --no-deps chitchat-dataset==0.9.0")
    dataset = json.loads((Path(package.origin).parent / "dataset.json").read_text(encoding="utf-8"))
    lines = [json.dumps(conversation, ensure_ascii=False) for conversation in conversations(dataset)]
    Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} conversations written to {out}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
