"""What measuring a corpus takes beside the metrics: its census, real conversations beside it, streams, endpoints."""
