"""One small file a report: a judged run in, text out."""
