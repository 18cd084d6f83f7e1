"""Template words about memories."""
