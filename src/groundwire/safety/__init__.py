"""What may be fetched: one strict URL parser, address and port tables, domain lists, and the guard that uses them."""
