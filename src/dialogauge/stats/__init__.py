"""Plain statistics: functions on arrays that know nothing of turns, metrics or corpora."""
