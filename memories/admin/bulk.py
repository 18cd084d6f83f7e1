"""Changing many memories at once: first a page of exactly what changes for each and what stays, then the change."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import CHANGE, DELETION
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from memories import cartridges, timestamps
from memories.admin.filters import AUDIENCES
from memories.curators import curator
from memories.drafts import checked_name
from memories.duplicates import mark_duplicates
from memories.errors import Conflict, Invalid, NotAllowed, NotFound, RekalError
from memories.forget import forget
from memories.models import Atom, Cartridge, CartridgeAtom
from memories.remember import NO_SUCH_MEMORY, edit
from memories.results import Memory, memories_for
from memories.visibility import SCOPES, Viewer, dump_visibility, is_narrower, narrowest, parse_visibility

if TYPE_CHECKING:
    from memories.admin.atoms import AtomAdmin

MOST = 500  # each is shown, and each is changed by its verb: about ten milliseconds
CHOICES = [
    ("scenario", _("Set the scenario")),
    ("visibility", _("Set who may read them")),
    ("close", _("Close them: no longer true from now on")),
    ("cartridge", _("Add to a cartridge")),
    ("duplicates", _("Mark as duplicates of one of them")),
    ("forget", _("Forget them for good")),
]
NOT_HERS = _("It is not yours: only its holder, or who wrote it down, may do this.")
TOO_WIDE = _("It is not yours: you may narrow who reads it, never widen it.")


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one memory: `before` and `after` in words, or why it stays as it is."""

    memory: Memory
    before: str = ""
    after: str = ""
    refused: str = ""


@dataclass(slots=True)
class Plan:
    """A bulk action on the ticked memories; `do` changes one of them, `value` is what it is set to."""

    action: str
    value: str
    steps: list[Step] = field(default_factory=list)

    @property
    def changing(self) -> list[Step]:
        """The steps that change something."""
        return [step for step in self.steps if not step.refused]


def narrowed(viewer: Viewer, atom_id: str) -> dict[str, Any]:
    """A memory's stored visibility, narrowed to its holder; whom it keeps out stays kept out. Raises `NotFound`."""
    stored = (
        Atom.objects.visible_to(viewer)
        .filter(atom_id=atom_id)
        .values_list("visibility_json", flat=True)
        .first()
    )
    if stored is None:
        raise NotFound(NO_SUCH_MEMORY)
    return narrowest([stored, '{"scope": "private"}'])


def page(model_admin: "AtomAdmin", request: HttpRequest, ids: list[str] | None = None) -> HttpResponse:
    """Show the plan; carry it out where it was shown and agreed to.

    `ids` are the memories it is for, in place of the ticked ones.
    """
    viewer = curator(request)
    if ids is None:
        ids = list(dict.fromkeys(request.POST.getlist(ACTION_CHECKBOX_NAME)))[:MOST]
    action = request.POST.get("action", "")
    if request.method != "POST" or action not in dict(CHOICES) or not ids:
        messages.warning(request, gettext("Tick some memories and choose what to do with them."))
        return redirect("admin:memories_atom_changelist")
    atoms = list(Atom.objects.visible_to(viewer).filter(atom_id__in=ids).order_by("-ingested_at", "-pk"))
    refusal, plan = "", Plan(action, request.POST.get("value", "").strip())
    try:
        plan = make_plan(viewer, action, request.POST, atoms)
        if "agreed" in request.POST:
            return _carry_out(model_admin, request, plan)
    except Invalid as error:
        refusal = str(error)
    return _preview(model_admin, request, plan, atoms, refusal)


def _preview(
    model_admin: "AtomAdmin", request: HttpRequest, plan: Plan, atoms: list[Atom], refusal: str
) -> HttpResponse:
    viewer = curator(request)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": dict(CHOICES)[plan.action],
        "opts": model_admin.opts,
        "plan": plan,
        "memories": memories_for(viewer, atoms),
        "refusal": refusal if "value" in request.POST else "",
        "checkbox": ACTION_CHECKBOX_NAME,
        "cartridges": Cartridge.objects.filter(owner_id=viewer.holder_id).order_by("name", "pk"),
        "scopes": [(one, AUDIENCES[one]) for one in SCOPES if one in AUDIENCES],
    }
    return TemplateResponse(
        request, "admin/memories/atom/bulk.html", context, status=422 if context["refusal"] else 200
    )


def make_plan(viewer: Viewer, action: str, posted: QueryDict, atoms: list[Atom]) -> Plan:
    """What the action would do to each memory. Raises `Invalid` while its value is missing or will not do."""
    plan = Plan(action, posted.get("value", "").strip())
    describe = DESCRIBERS[action](viewer, plan, atoms)
    plan.steps = [
        describe(atom, memory) for atom, memory in zip(atoms, memories_for(viewer, atoms), strict=True)
    ]
    return plan


Describe = Callable[[Atom, Memory], Step]


def _hers(viewer: Viewer, atom: Atom) -> bool:
    return bool(viewer.ids & {atom.holder_id, atom.recorded_by})


def _scenario(viewer: Viewer, plan: Plan, atoms: list[Atom]) -> Describe:
    plan.value = checked_name(plan.value, "scenario")

    def describe(atom: Atom, memory: Memory) -> Step:
        same = gettext("It is in this scenario already.") if atom.scenario == plan.value else ""
        return Step(memory, atom.scenario or "–", plan.value or "–", same)

    return describe


def _visibility(viewer: Viewer, plan: Plan, atoms: list[Atom]) -> Describe:
    if plan.value not in ("household", "private"):
        raise Invalid(gettext("Choose who may read them."), "value")

    def describe(atom: Atom, memory: Memory) -> Step:
        new = wanted_visibility(viewer, atom, plan.value)
        refused = ""
        if dump_visibility(new) == dump_visibility(narrowest([atom.visibility_json])):
            refused = gettext("It is so already.")
        elif not _hers(viewer, atom) and not is_narrower(new, atom.visibility_json):
            refused = str(TOO_WIDE)
        scope = str(memory.visibility.get("scope", ""))
        return Step(memory, str(AUDIENCES.get(scope, scope)), str(AUDIENCES[plan.value]), refused)

    return describe


def wanted_visibility(viewer: Viewer, atom: Atom, scope: str) -> dict[str, Any]:
    """The stored visibility under another scope; who is kept out and what stays a surprise remain so."""
    stored = narrowest([atom.visibility_json])
    return parse_visibility(stored | {"scope": scope, "holders": [], "groups": []})


def _close(viewer: Viewer, plan: Plan, atoms: list[Atom]) -> Describe:
    now = timestamps.now()

    def describe(atom: Atom, memory: Memory) -> Step:
        refused = ""
        if atom.valid_to and atom.valid_to <= now:
            refused = gettext("It is closed already.")
        elif atom.valid_from and atom.valid_from > now:
            refused = gettext("It is not true yet, so it cannot stop being true now.")
        return Step(memory, gettext("true now"), gettext("no longer true from now on"), refused)

    return describe


def _cartridge(viewer: Viewer, plan: Plan, atoms: list[Atom]) -> Describe:
    chosen = Cartridge.objects.filter(pk=plan.value, owner_id=viewer.holder_id).first()
    if chosen is None:
        raise Invalid(gettext("Choose one of your cartridges."), "value")
    rows = CartridgeAtom.objects.filter(cartridge=chosen, atom__in=[one.atom_id for one in atoms])
    inside = {str(one) for one in rows.values_list("atom_id", flat=True)}

    def describe(atom: Atom, memory: Memory) -> Step:
        return Step(
            memory, "–", chosen.name, gettext("It is in it already.") if atom.atom_id in inside else ""
        )

    return describe


def _duplicates(viewer: Viewer, plan: Plan, atoms: list[Atom]) -> Describe:
    if plan.value not in {atom.atom_id for atom in atoms} or len(atoms) < 2:
        raise Invalid(gettext("Choose which one stays; the others are closed and point to it."), "value")

    def describe(atom: Atom, memory: Memory) -> Step:
        stays = gettext("This one stays as it is.") if atom.atom_id == plan.value else ""
        return Step(memory, gettext("true now"), gettext("closed, replaced by the one that stays"), stays)

    return describe


def _forget(viewer: Viewer, plan: Plan, atoms: list[Atom]) -> Describe:
    def describe(atom: Atom, memory: Memory) -> Step:
        refused = "" if _hers(viewer, atom) else str(NOT_HERS)
        return Step(memory, gettext("kept"), gettext("forgotten for good"), refused)

    return describe


DESCRIBERS: dict[str, Callable[[Viewer, Plan, list[Atom]], Describe]] = {
    "scenario": _scenario,
    "visibility": _visibility,
    "close": _close,
    "cartridge": _cartridge,
    "duplicates": _duplicates,
    "forget": _forget,
}


def _carry_out(model_admin: "AtomAdmin", request: HttpRequest, plan: Plan) -> HttpResponse:
    """Change what the plan changes, one memory after the other; what was changed meanwhile is left and told."""
    viewer = curator(request)
    done = left = 0
    if plan.action == "duplicates":
        ids = [step.memory.atom_id for step in plan.changing]
        done = mark_duplicates(viewer, plan.value, ids)
    else:
        for step in plan.changing:
            try:
                change_one(viewer, plan, step)
                done += 1
            except (NotFound, NotAllowed, Conflict):
                left += 1
    for step in plan.changing:
        flag = DELETION if plan.action == "forget" else CHANGE
        model_admin.note(request, step.memory.atom_id, flag, [{"changed": {"fields": [plan.action]}}])
    messages.success(
        request, ngettext("%(n)d memory changed.", "%(n)d memories changed.", done) % {"n": done}
    )
    if left := left + len(plan.steps) - len(plan.changing):
        words = ngettext("%(n)d stays as it was.", "%(n)d stay as they were.", left)
        messages.warning(request, words % {"n": left})
    return redirect("admin:memories_atom_changelist")


def change_one(viewer: Viewer, plan: Plan, step: Step) -> None:
    """One step of a plan, through the verbs. Raises `RekalError`."""
    atom_id = step.memory.atom_id
    seen = step.memory.updated_at
    if plan.action == "scenario":
        edit(viewer, atom_id, if_updated_at=seen, scenario=plan.value)
    elif plan.action == "visibility":
        atom = Atom.objects.visible_to(viewer).get(atom_id=atom_id)
        edit(viewer, atom_id, if_updated_at=seen, visibility=wanted_visibility(viewer, atom, plan.value))
    elif plan.action == "close":
        edit(viewer, atom_id, if_updated_at=seen, valid_to=timestamps.now())
    elif plan.action == "cartridge":
        cartridges.change(viewer, plan.value, add=[atom_id])
    elif plan.action == "forget":
        forget(viewer, atom_id)
    else:
        raise RekalError(plan.action)
