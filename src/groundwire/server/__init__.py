"""Servers through which programs that are not in this process use the two tools."""
