"""The gauge: how good a reply is, learned from conversations, from replies made worse, and from people's ratings."""
