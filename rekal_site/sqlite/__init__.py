"""Django's SQLite backend over pysqlite3 with sqlite-vec loaded: the engine of every rekal store."""
