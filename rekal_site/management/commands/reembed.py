"""`reembed`: write every vector anew with the configured engine."""

from typing import Any

from memories.embedding import cache
from memories.reembed import reembed
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """The way to another embedding model."""

    help = (
        "Write every vector anew with the engine REKAL_ENGINE names, and record it. Cut short, it goes on; "
        "until it is done the store answers with the former vectors."
    )
    examples = ("reembed", "REKAL_ENGINE=sentence-transformers:all-MiniLM-L6-v2 rekal reembed")
    needs_viewer = False
    needs_model = False

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        with render.progress(self.stderr, "memories") as advance:
            count = reembed(advance)
        result = {"memories": count, "model": cache.engine().name, "dimensions": cache.engine().dimensions}
        self.show(
            result, options, [render.line(f"{count:,} memories now have vectors of {result['model']}.")]
        )
        return None
