def index_text(t):
    return t or ""
