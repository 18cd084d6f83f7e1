"""Template words about people."""
