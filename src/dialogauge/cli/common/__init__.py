"""What the verbs share: the parser, inputs and outputs, gates."""
