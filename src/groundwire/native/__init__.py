"""Hosted web search: what the APIs of models can do themselves, how it is asked for, and what comes back."""
