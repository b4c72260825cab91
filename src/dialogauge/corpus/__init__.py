"""Turns, the corpora they form, and the files they come from."""

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.load import load
from dialogauge.corpus.turn import Turn

__all__ = ["Corpus", "SourceFile", "Turn", "load"]
