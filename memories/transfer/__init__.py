"""Bringing memories in and taking them out: one loop (`load`), and a reader for each format.

A reader turns a file into `Record`s and decides nothing; `load` checks, recognises, embeds and stores them. A new
format is a module with a `read(path)` generator and a line in `formats.FORMATS`.
"""
