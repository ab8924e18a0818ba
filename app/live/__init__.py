"""The Live page: watch the streams of a running service, and turn its knobs."""
