"""`mcp`: the tools for one agent, over stdin and stdout."""

import asyncio
from typing import Any

from django.core.management.base import CommandParser

from holders.auth import Principal, viewer_for
from holders.models import SCOPES
from memories.embedding import cache
from memories.visibility import Viewer
from rekal_site.management.base import RekalCommand
from rekal_site.mcp import compat
from rekal_site.mcp.server import Face
from rekal_site.mcp.tools import TOOLS


class Command(RekalCommand):
    """Speaks the Model Context Protocol; stdout carries nothing else."""

    help = "Serve an agent over stdin and stdout with the Model Context Protocol, as one holder."
    examples = (
        "mcp --as house-agent",
        "mcp --as mira --compat rekal     (the tools of the small rekal server, for an agent that knows those)",
    )

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--compat", choices=["rekal"], help="offer another server’s tools instead")
        parser.add_argument(
            "--project", metavar="P", help="with --compat: the project of calls that name none"
        )

    def run(self, viewer: Viewer, **options: Any) -> int | None:
        cache.engine()  # the first call shall not wait for the model
        tools = compat.tools(options["project"]) if options["compat"] else TOOLS
        face = Face(lambda request: Principal(viewer_for(viewer.holder_id), frozenset(SCOPES)), tools)
        try:
            asyncio.run(face.run_stdio())
        finally:
            face.close()
        return None
