"""`token`: make a bearer token for the API and MCP."""

from typing import Any

from django.core.management.base import CommandParser

from holders.models import SCOPES, Token
from holders.registry import checked_id
from holders.tokens import MAX_DAYS, issue
from memories.errors import Invalid, NotAllowed
from memories.visibility import Viewer
from rekal_site.management.base import RekalCommand


class Command(RekalCommand):
    """Prints the token alone; only its hash is kept."""

    help = "Make a token for a holder. It is printed this once and on stdout alone; the store keeps only its hash."
    examples = (
        "token house-agent --scope read --scope ask --days 90",
        "token mira > mira.token",
        "token house-agent --acting-for-me --as mira     (reads what both may, writes as mira)",
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
        parser.add_argument(
            "--acting-for-me",
            action="store_true",
            help="an agent’s token that acts for who --as names, and for nobody else",
        )

    def run(self, viewer: Viewer | None, **options: Any) -> int | None:
        holder_id, days = checked_id(options["holder"]), options["days"]
        if options["acting_for_me"]:
            return self.make_acting(viewer, holder_id, options)
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

    def make_acting(self, viewer: Viewer | None, holder_id: str, options: dict[str, Any]) -> int | None:
        """A token with which an agent acts for the viewer, who alone can make it."""
        if viewer is None:
            raise Invalid("Say with --as for whom the agent shall act.", "viewer")
        card, plain = issue(
            viewer,
            holder_id,
            options["scope"] or ["read", "write", "ask"],
            days=options["days"],
            label=options["label"],
            acting_for_me=True,
        )
        result = {"token": plain, "holder_id": holder_id, "acting_for": card.acting_for}
        self.show(result | {"scopes": card.scopes, "expires_at": card.expires_at}, options, [plain])
        return None
