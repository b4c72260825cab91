"""One module per file format.

A format is a `Reader` (see `dialogauge.corpus.reading.reader`) that `registry.READERS` lists: `sniff(head)` tells
from the beginning of a file whether it fits, `read(reading)` yields `(line, turn)` pairs one at a time.
"""
