"""ELMo (Peters et al. 2018): vectors of words in context, from their letters and the words on both sides."""
