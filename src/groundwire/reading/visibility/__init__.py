"""Which elements a reader of the page could see."""
