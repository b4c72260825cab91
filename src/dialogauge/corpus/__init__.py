"""Turns, the corpora they form, and the files they come from."""

from dialogauge.corpus.corpus import Corpus, SourceFile
from dialogauge.corpus.load import Loading, load, stream
from dialogauge.corpus.reading.reader import FileHead, Reader, Reading
from dialogauge.corpus.turn import Turn

__all__ = ["Corpus", "FileHead", "Loading", "Reader", "Reading", "SourceFile", "Turn", "load", "stream"]
