"""One evaluation on several machines that do not know of each other: shards, and how they are merged."""
