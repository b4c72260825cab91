"""`--compat fbd-paper`: metrics as the tables of the FBD paper have them (Xiang et al. 2021).

The recipes are those of the packages its authors used, oddities included: NLTK's `corpus_bleu` without
smoothing, the METEOR of NLTK 3.5 on raw strings, and py-rouge 1.1. They are here to reproduce published
numbers; for new ones the plain metrics are the better choice.
"""

COMPAT = {"compat": "fbd-paper"}
"""How the signatures of these metrics begin."""
