"""Parts of a page: pieces, relevant passages, literal matches, sections."""
