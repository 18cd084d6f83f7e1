"""`live`: which addresses this server may send to, for live holders and webhooks."""

import sys
from typing import Any

from django.core.management.base import CommandParser

from holders import outgoing
from memories.errors import Invalid, NotFound
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import NOTHING, RekalCommand


class Command(RekalCommand):
    """The owner's list; nobody else changes it, and nothing is sent anywhere else."""

    help = "Allow an address that this server may send to: a live holder’s server, or a webhook. None: list them."
    examples = (
        "live https://grandma.example --token rekal_…     (her server’s token for this household)",
        "live http://192.168.1.20:8123                    (in the home network, by its number)",
        "live http://nas.local:8000 --private             (in the home network, by its name)",
        "live https://grandma.example --remove",
        "live",
    )
    needs_viewer = False
    takes_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address", nargs="?", help="http:// or https://, a host and perhaps a port")
        parser.add_argument(
            "--token", default="", metavar="T", help="the token to show there; - reads it from stdin"
        )
        parser.add_argument("--private", action="store_true", help="its name may lead into the home network")
        parser.add_argument("--remove", action="store_true", help="take it off the list")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        if options["address"] is None:
            if options["token"] or options["private"] or options["remove"]:
                raise Invalid("Name the address.", "address")
            return self.list(options)
        if options["remove"]:
            if not outgoing.disallow(options["address"]):
                raise NotFound("That address is not on the list.")
            self.show({"removed": options["address"]}, options, [render.line("Removed.")])
            return None
        token = sys.stdin.readline().strip() if options["token"] == "-" else options["token"]  # noqa: S105
        entry = outgoing.allow(options["address"], token=token, private=options["private"])
        self.show(_shown(entry), options, [render.line(f"Allowed: {entry.origin}")])
        return None

    def list(self, options: dict[str, Any]) -> int | None:
        """Every address, without its token."""
        entries = [_shown(entry) for entry in outgoing.allowed_addresses().values()]
        lines = [
            render.line(one["address"], " (with a token)" if one["has_token"] else "") for one in entries
        ]
        self.show({"addresses": entries}, options, lines)
        return None if entries else NOTHING


def _shown(entry: outgoing.Allowed) -> dict[str, Any]:
    return {"address": entry.origin, "private": entry.private, "has_token": bool(entry.token)}
