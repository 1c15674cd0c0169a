"""Documents other than web pages: PDF, feeds, XML, delimited text, notebooks, source code, Office formats, EPUB."""
