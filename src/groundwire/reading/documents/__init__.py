"""Documents that are not pages: PDF, feeds, XML, tables of text, notebooks, source code, Office formats, EPUB."""
