"""Accuracy of verifying answers against the pages they cite."""
