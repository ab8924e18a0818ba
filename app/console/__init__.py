"""The console: turn two knobs over a stream and watch the model change while they turn."""
