"""Filters that one would use without a gate."""
