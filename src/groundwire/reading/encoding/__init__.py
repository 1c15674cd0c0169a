"""Decoding of bytes to text: content types, file types and character encodings."""
