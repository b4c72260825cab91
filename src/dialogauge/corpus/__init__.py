"""Turns, the corpora they form, and the files they come from."""

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.load import Loading, load, stream
from dialogauge.corpus.turn import Turn

__all__ = ["Corpus", "Loading", "SourceFile", "Turn", "load", "stream"]
