"""Text out of files: what a file really is (`sniff`), what it says and where (`text`, `images`), in pieces (`chunks`)."""
