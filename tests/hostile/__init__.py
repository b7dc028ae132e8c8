"""Texts of strangers that did harm, or would: data, easy to add to."""
