"""The Tune page: goals in, a setting out, with the map of both knobs and the frontier beside it."""
