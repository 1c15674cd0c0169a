"""Adapters for host applications."""
