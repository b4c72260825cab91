"""The pages on which people rate, and the server that shows them."""
