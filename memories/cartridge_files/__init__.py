"""Cartridges as files: `.rekal`, a zip of `manifest.json`, `atoms.parquet` and `sources/`, or the same sealed with age.

What goes out is what its exporter and everybody it is meant for may read. What comes in is checked whole before
anything is stored, and believed in nothing: its names are set apart, and only who brings it in may read it.
Needs the extra `cartridges` (pyarrow is 55 MB, more than everything else together, and most stores never need it).
"""
