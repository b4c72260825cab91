"""The tables and figures of the papers, with our numbers beside the published ones."""
