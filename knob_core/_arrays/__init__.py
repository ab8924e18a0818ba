"""Helpers for arrays and tensors: checks, broadcasting of knobs, the inner loop, the two largest classes."""
