"""Conversations from which a network can learn everything: each topic has its question and its answer."""

import json
from dataclasses import replace

from dialogauge.corpus import Turn
from dialogauge.learned.ruber.recipe import PAPER, TOWERS
from dialogauge.learned.ruber.training_data import make_training_data, read_data

TOPICS = 3
WORDS = [*(f"{word}{topic}" for topic in range(TOPICS) for word in ("ask", "say", "oh")), "now"]


def dialogues(count=20, utterances=3, topics=TOPICS):
    """A question, the answer, and what is said to the answer. Questions come in two forms."""
    listed = [(place % topics, place // topics % 2) for place in range(count)]
    return [
        [" ".join([f"ask{topic}"] * (1 + form)), f"say{topic} now", f"oh{topic}"][:utterances] for topic, form in listed
    ]


def turns(conversations):
    return [
        Turn(f"{name}:{place}", said[place], context=tuple(said[:place]), dialogue=str(name))
        for name, said in enumerate(conversations)
        for place in range(1, len(said))
    ]


def write(path, conversations):
    rows = ({"dialogue": str(name), "utterances": said} for name, said in enumerate(conversations))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def telling(count=60):
    """The same is asked in all of them: only what was said before it tells what is answered."""
    return [[f"ask{place % TOPICS}", "now", f"say{place % TOPICS}"] for place in range(count)]


def training_data_for(encoder, recipe, said=None):
    data = read_data(turns(said or dialogues()), None, recipe, share=0.3)
    return make_training_data(data, encoder, recipe)


def quick(**options):
    """A recipe that learns fast and says soon that it is done."""
    return replace(PAPER, **{"rate": 0.003, "batch": 8, "epochs": 3, **options})


def quick_towers(**options):
    return replace(TOWERS, **{"rate": 0.003, "batch": 8, "epochs": 3, "dropout": 0.1, **options})
