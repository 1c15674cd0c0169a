"""Selection of a page's main content: block features and their classifier."""
