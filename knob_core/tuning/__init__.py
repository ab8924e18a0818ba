"""Tuning filters of logits with equal effort, and comparing them on other streams."""
