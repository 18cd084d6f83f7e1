"""Text out of files: what a file really is (`sniff`), what it says (`text`, `images`), in pieces (`chunks`)."""
