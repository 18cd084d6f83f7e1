"""`token`: make a bearer token for the API and MCP."""

from typing import Any

from django.core.management.base import CommandParser

from holders.models import SCOPES, Token
from holders.registry import checked_id
from memories.errors import Invalid, NotAllowed
from memories.visibility import Viewer
from rekal_site.management.base import RekalCommand

MAX_DAYS = 3650


class Command(RekalCommand):
    """Prints the token alone; only its hash is kept."""

    help = "Make a token for a holder. It is printed this once and on stdout alone; the store keeps only its hash."
    examples = (
        "token house-agent --scope read --scope ask --days 90",
        "token mira > mira.token",
    )
    needs_viewer = False
    needs_model = False

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("holder", help="whose token: a holder’s id")
        parser.add_argument(
            "--scope",
            action="append",
            choices=SCOPES,
            help="what it may do; may be given again (read, write, ask)",
        )
        parser.add_argument(
            "--days", type=int, metavar="N", help="how long it opens the door (default: until revoked)"
        )
        parser.add_argument("--label", default="", metavar="L", help="what it is for")

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        holder_id, days = checked_id(options["holder"]), options["days"]
        if viewer is not None and viewer.holder_id != holder_id:
            raise NotAllowed("A token for somebody else is made by the host alone, without --as.")
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise Invalid(f"A token lives 1 to {MAX_DAYS} days.", "days")
        scopes = options["scope"] or ["read", "write", "ask"]
        token, plain = Token.objects.issue(holder_id, scopes, days, label=options["label"][:100])
        result = {
            "token": plain,
            "holder_id": holder_id,
            "scopes": sorted(token.scopes),
            "expires_at": token.expires_at,
        }
        self.show(result, options, [plain])
        return None
