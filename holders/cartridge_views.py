"""Pages of bundles (cartridges): made by picking, looked through, shared, taken out as files and brought in."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from holders.audience import HOUSEHOLD, ME, OUTSIDE, audience_of
from holders.auth import viewer_for
from holders.handover import handed_out, received
from holders.models import Holder
from memories import cartridges, facets, sharing
from memories.cartridge_files import load, write
from memories.errors import Invalid, RekalError
from memories.models import Atom, Cartridge
from memories.pages import member, members_only
from memories.results import Memory
from memories.selection import Selection, selected_page
from memories.transfer.identities import Choices
from memories.visibility import Viewer

PICKED_FROM = 30
LINKED = 40  # memories named in one address


@require_GET
@members_only
def bundles(request: HttpRequest) -> HttpResponse:
    """My bundles and those shared with me."""
    return _list(request)


def _list(request: HttpRequest, sentence: str = "", status: int = 200) -> HttpResponse:
    found = cartridges.list_cartridges(member(request))
    return render(request, "cartridges.html", {"cards": found, "sentence": sentence}, status=status)


@require_POST
@members_only
def make(request: HttpRequest) -> HttpResponse:
    """A new, empty bundle; the page that follows is for picking."""
    try:
        card = cartridges.make(member(request), request.POST.get("name", ""), request.POST.getlist("atom"))
    except Invalid as error:
        return _list(request, str(error), 422)
    return redirect("cartridge", card.cartridge_id)


@dataclass(frozen=True, slots=True)
class Shared:
    """With whom a bundle is shared, how much of it they can read, and where to change that."""

    reader: str
    holder_id: str
    group: str
    readable: int
    change_url: str


@require_GET
@members_only
def bundle(request: HttpRequest, cartridge_id: str) -> HttpResponse:
    """What is inside; for its owner also what could be, and who else sees it."""
    viewer = member(request)
    card = cartridges.get_cartridge(viewer, cartridge_id)
    mine = card.owner_id == viewer.holder_id
    query, scenario = request.GET.get("q", "").strip(), request.GET.get("scenario", "")
    inside = cartridges.members(viewer, cartridge_id)
    context = {
        "card": card,
        "mine": mine,
        "inside": inside,
        "q": query,
        "scenario": scenario,
        "scenarios": facets.scenarios_of(viewer) if mine else [],
        "picking": "pick" in request.GET or not inside,
        "candidates": _candidates(viewer, card.cartridge_id, query, scenario) if mine else [],
        "shared": [_shared(viewer, cartridge_id, reader) for reader in card.shared_with],
        "audiences": _audiences(viewer) if mine else [],
        "imported": mine and Cartridge.objects.filter(pk=cartridge_id, dna__isnull=False).exists(),
    }
    return render(request, "cartridge.html", context)


def _candidates(viewer: Viewer, cartridge_id: str, query: str, scenario: str) -> list[Memory]:
    """The newest readable memories that fit and are not inside yet."""
    page = selected_page(viewer, Selection(q=query, scenario=scenario or None), limit=PICKED_FROM * 2)
    there = set(cartridges.inside(viewer, cartridge_id).values_list("atom_id", flat=True))
    return [one for one in page.items if one.atom_id not in there][:PICKED_FROM]


def _shared(viewer: Viewer, cartridge_id: str, reader: str) -> Shared:
    kind, _separator, name = reader.partition(":")
    other = viewer_for(name) if kind == "holder" else sharing.a_member_of("person", name)
    inside = cartridges.inside(viewer, cartridge_id)
    readable = set(inside.visible_to(other).values_list("pk", flat=True))
    hidden = Atom.objects.changeable_by(viewer).filter(pk__in=inside.exclude(pk__in=readable).values("pk"))
    ids = list(hidden.values_list("atom_id", flat=True)[:LINKED])
    address = f"{reverse('change-visibility')}?{urlencode([('atom', one) for one in ids])}" if ids else ""
    return Shared(
        reader, name if kind == "holder" else "", name if kind == "group" else "", len(readable), address
    )


def _audiences(viewer: Viewer) -> list[tuple[str, str]]:
    """For whom a file can be made."""
    people = [
        (f"holder:{one.pk}", one.name or one.pk)
        for one in Holder.objects.order_by("pk")
        if one.pk != viewer.holder_id
    ]
    return [
        (ME, _("Myself")),
        (HOUSEHOLD, _("Everyone in the household")),
        (OUTSIDE, _("Somebody outside")),
        *people,
    ]


@require_POST
@members_only
def change(request: HttpRequest, cartridge_id: str) -> HttpResponse:
    """Put in, take out, rename, share."""
    posted = request.POST
    action, ids = posted.get("action", ""), posted.getlist("atom")
    steps = {
        "add": {"add": ids},
        "remove": {"remove": ids},
        "rename": {"name": posted.get("name", "")},
        "share": {"shared_with": posted.getlist("named")},
    }
    if action not in steps:
        raise Invalid(_("Choose what to do with it."))
    cartridges.change(member(request), cartridge_id, **steps[action])  # type: ignore[arg-type]
    messages.success(request, _("Changed."))
    more = f"?{urlencode({'pick': 1, 'q': posted.get('q', ''), 'scenario': posted.get('scenario', '')})}"
    return redirect(reverse("cartridge", args=[cartridge_id]) + (more if action == "add" else ""))


@require_POST
@members_only
def mount(request: HttpRequest, cartridge_id: str) -> HttpResponse:
    """Have my questions look only in it, or everywhere again."""
    viewer = member(request)
    if request.POST.get("on") == "1":
        card = cartridges.mount(viewer, cartridge_id)
        messages.success(request, _("Your questions now look only in “%(name)s”.") % {"name": card.name})
    else:
        cartridges.unmount(viewer, cartridge_id)
        messages.success(request, _("Your questions do not look there alone any more."))
    return redirect("ask" if request.POST.get("back") == "ask" else "cartridges")


@require_POST
@members_only
def remove(request: HttpRequest, cartridge_id: str) -> HttpResponse:
    """Take the bundle apart; or, one that came as a file, take it out with its memories."""
    viewer = member(request)
    if request.POST.get("memories") == "1":
        gone = load.remove_imported(viewer, cartridge_id)
        said = ngettext(
            "%(n)d memory was taken out again.", "%(n)d memories were taken out again.", gone.removed
        )
        messages.success(request, said % {"n": gone.removed})
    else:
        cartridges.remove(viewer, cartridge_id)
        messages.success(request, _("The bundle is gone; its memories stay."))
    return redirect("cartridges")


@members_only
def take_out(request: HttpRequest, cartridge_id: str) -> HttpResponseBase:
    """First what a file for somebody would hold, then the file."""
    viewer = member(request)
    sentence = ""
    audience = request.POST.get("audience") or request.GET.get("audience") or ME
    if request.method == "POST":
        try:
            return handed_out(viewer, cartridge_id, audience, request.POST.get("passphrase", ""))
        except RekalError as error:
            sentence = str(error)
    context = {
        "card": cartridges.get_cartridge(viewer, cartridge_id),
        "preview": write.preview(viewer, cartridge_id, audience_of(audience)),
        "audience": audience,
        "audience_words": dict(_audiences(viewer)).get(audience, audience),
        "sentence": sentence,
    }
    return render(request, "cartridge_file.html", context, status=422 if sentence else 200)


@require_POST
@members_only
def bring_in(request: HttpRequest) -> HttpResponse:
    """A bundle somebody gave me: checked whole first, and mine alone to read unless I say otherwise."""
    viewer, file = member(request), request.FILES.get("file")
    if file is None:
        return _list(request, _("Choose a file first."), 422)
    wide = request.POST.get("visibility") == "household"
    with received(file) as place:
        try:
            found = load.import_cartridge(
                viewer, place, choices=Choices("household" if wide else "private", {}, dry_run=False),
                passphrase=request.POST.get("passphrase", ""),
            )  # fmt: skip
        except RekalError as error:
            return _list(request, str(error), 422)
    said = ngettext("%(n)d memory came in.", "%(n)d memories came in.", found.taken) % {"n": found.taken}
    messages.success(request, said)
    return redirect("cartridge", found.cartridge_id)
