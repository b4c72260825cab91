"""From files to records: lines, JSON, columns and fields, with errors that name their place."""
