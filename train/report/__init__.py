"""The report that writes itself: assets/results in, RESULTS.md and its figures out."""
