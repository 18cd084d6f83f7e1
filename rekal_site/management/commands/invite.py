"""`invite`: a link with which a person of the household makes her own account."""

from typing import Any

from django.core.management.base import CommandParser
from django.urls import reverse

from holders.invites import INVITE_DAYS, invite
from memories.visibility import Viewer
from rekal_site import render
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """The host's alone: whoever has the link signs in as that holder."""

    help = (
        f"Make an invitation link for a registered person: it works once, for {INVITE_DAYS} days, and whoever opens it "
        "chooses a name and a password. Give it to nobody else."
    )
    examples = ("invite lea", "invite lea --address https://rekal.home.example")
    needs_viewer = False
    takes_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("holder", help="whom it is for: a person’s holder id")
        parser.add_argument(
            "--address",
            default="http://127.0.0.1:8000",
            metavar="A",
            help="where the family reaches the server (http://127.0.0.1:8000)",
        )

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        path = reverse("invitation", args=[invite(options["holder"])])
        link = options["address"].rstrip("/") + path
        self.show({"link": link, "holder_id": options["holder"]}, options, [render.line(link)])
        return None
