"""Turns, the corpora they form, and the files they come from."""

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.head import FileHead
from dialogauge.corpus.load import Loading, load, stream
from dialogauge.corpus.reading import Reader, Reading
from dialogauge.corpus.turn import Turn

__all__ = ["Corpus", "FileHead", "Loading", "Reader", "Reading", "SourceFile", "Turn", "load", "stream"]
