"""Files cut into chunks that can be read by themselves, in any process, and what is noted while they are read."""
