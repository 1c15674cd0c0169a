"""The main content of a page: block features and their classifier."""
