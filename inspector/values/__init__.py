"""One value shown whole: as text, as a JSON tree, as bytes, as Markdown; models without a widget."""
