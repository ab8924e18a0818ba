"""The calibration page: which shipped predictions are looked at, their scores under the knobs, and example pictures."""
