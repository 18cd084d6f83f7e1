#!/usr/bin/env python3
"""Command-line entry point of a checkout; `rekal` is the same once the package is installed."""

from rekal_site.cli import main

if __name__ == "__main__":
    main()
