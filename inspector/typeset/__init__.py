"""Text as lines of a given width: wrapped prose, Markdown, JSON. No widget, no markup, no data untouched.

Everything that comes in from a store passes `inspector.safe` here, once, on its way in.
"""
