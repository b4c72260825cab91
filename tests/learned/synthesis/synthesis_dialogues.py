"""Dialogues of which every word tells where it was said."""

from dialogauge.corpus import Turn
from dialogauge.learned.synthesis import Options, Synthesis
from dialogauge.learned.synthesis.dialogues import gather
from dialogauge.learned.synthesis.sources import read_generic

ALL = Options(splits=(1, 0, 0))


def turns(count=40, utterances=8, facts=(), words=4):
    """Utterance u of dialogue d is d<d>u<u>w0 d<d>u<u>w1 ..."""
    for dialogue in range(count):
        said = [
            " ".join(f"d{dialogue}u{place}w{word}" for word in range(words + place % 3)) for place in range(utterances)
        ]
        for place in range(1, utterances):
            yield Turn(f"{dialogue}:{place}", said[place], tuple(said[:place]), dialogue=str(dialogue), facts=facts)


def said(*dialogues, facts=()):
    for name, utterances in enumerate(dialogues):
        for place in range(1, len(utterances)):
            context = tuple(utterances[:place])
            yield Turn(f"{name}:{place}", utterances[place], context, dialogue=str(name), facts=facts)


def synthesis(given, options=ALL, **more):
    dialogues = gather(given, options.seed, options.split_shares)
    return Synthesis(dialogues, options, more.pop("generic", None) or read_generic(), **more)


def pairs(given, options=ALL, **more):
    return list(synthesis(given, options, **more))


def of(found, source):
    return [pair for pair in found if pair.source == source]


def owner(text):
    """The number of the dialogue whose words these are."""
    (dialogue,) = {word.partition("u")[0] for word in text.split()}
    return dialogue.removeprefix("d")
