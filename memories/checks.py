"""System checks, so that a host's mistake is a sentence and not a traceback."""
