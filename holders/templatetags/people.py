"""Template words about people: names, icons, the menu, how sure we are."""

from typing import Any

from django import template
from django.template.context import Context
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from holders.contact import ContactLink, contact_links

register = template.Library()


@register.simple_tag
def icon(name: str) -> SafeString:
    """A drawing from our own sheet; it says nothing that the words beside it do not say."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("rekal/icons.svg"), name
    )


@register.simple_tag(takes_context=True)
def nav_link(context: Context, name: str, picture: str, words: str) -> SafeString:
    """One entry of the menu; the page it leads to is marked while one is on it."""
    try:
        address = reverse(name)
    except NoReverseMatch:
        return SafeString("")
    path = context["request"].path
    here = path == address or (address != "/" and path.startswith(address))
    return format_html(
        '<li><a href="{}"{}>{}<span>{}</span></a></li>',
        address, SafeString(' aria-current="page"') if here else "", icon(picture), words,
    )  # fmt: skip


@register.simple_tag(takes_context=True)
def person(context: Context, holder_id: str) -> str:
    """How the viewer knows a holder: "you", a name, or the bare id of who is not registered."""
    viewer = context.get("viewer")
    if viewer and viewer.holder_id == holder_id:
        return pgettext("whose", "You")
    return str(context["names"].get(holder_id, holder_id)) or _("Nobody")


@register.simple_tag(takes_context=True)
def person_link(context: Context, holder_id: str) -> SafeString:
    """The name, leading to the person's page."""
    name = person(context, holder_id)
    if not holder_id:
        return SafeString(format_html("{}", name))
    return format_html('<a class="person" href="{}">{}</a>', reverse("person", args=[holder_id]), name)


@register.simple_tag
def ways_to_reach(contact: dict[str, str], question: str = "") -> list[ContactLink]:
    """Contact details as links, with the question in the message."""
    return contact_links(contact, question)


@register.filter
def probably(confidence: str) -> str:
    """An ordinal confidence as the middle of "Mum … knows this"."""
    return {
        "strong": _("very probably knows this"),
        "likely": _("probably knows this"),
    }.get(confidence, _("might know this"))


@register.filter
def how_sure(relevance: float) -> str:
    """A relevance of 0 to 1 in words."""
    if relevance >= 0.75:
        return _("Fits very well")
    return _("Fits well") if relevance >= 0.5 else _("Fits loosely")


@register.filter
def may_change(viewer: Any, memory: Any) -> bool:
    """Whether the viewer may change or delete this memory."""
    return bool(viewer and viewer.ids & {memory.holder_id, memory.recorded_by})


@register.simple_tag(takes_context=True)
def who_reads(context: Context, memory: Any) -> str:
    """Who may read a memory, in a word or two."""
    scope = memory.visibility.get("scope", "")
    if scope == "household":
        return _("Everyone but a few") if memory.visibility.get("deny") else _("Everyone")
    if scope != "private":
        return _("Some people")
    viewer = context.get("viewer")
    alone = viewer and viewer.holder_id == memory.holder_id and not memory.recorded_by
    return _("Only you") if alone else _("Only the holder")


@register.filter
def kind_words(kind: str) -> str:
    """What kind of holder it is."""
    return {"person": _("a person"), "agent": _("a helper program"), "service": _("a service")}.get(
        kind, kind
    )


@register.filter
def relation_words(evidence: Any) -> str:
    """An evidence edge as a sentence that begins with the other memory or with this one."""
    outward = {
        "supports": _("This speaks for:"), "contradicts": _("This speaks against:"),
        "derived_from": _("This follows from:"), "cites": _("This quotes:"), "answers": _("This answers:"),
    }  # fmt: skip
    inward = {
        "supports": _("Speaks for it:"), "contradicts": _("Speaks against it:"),
        "derived_from": _("Follows from it:"), "cites": _("Quotes it:"), "answers": _("Answers it:"),
    }  # fmt: skip
    words = inward if evidence.inward else outward
    return words.get(evidence.relation, str(evidence.relation))


@register.simple_tag(takes_context=True)
def people_choices(context: Context) -> list[tuple[str, str]]:
    """`(holder id, name)` of everybody else in the directory, by name."""
    viewer = context.get("viewer")
    mine = viewer.ids if viewer else frozenset()
    return sorted(
        ((one, name) for one, name in context["names"].items() if one not in mine),
        key=lambda pair: pair[1].casefold(),
    )


@register.simple_tag(takes_context=True)
def readers_choices(context: Context) -> list[tuple[str, str]]:
    """`(group:… or holder:…, words)`: whom a memory can be shared with one by one."""
    built_in = [
        ("group:people", _("All people")),
        ("group:agents", _("All helper programs")),
        ("group:services", _("All services")),
    ]
    own = [(f"group:{name}", _("The group “%(name)s”") % {"name": name}) for name in context["groups"]]
    return [*((f"holder:{one}", name) for one, name in people_choices(context)), *own, *built_in]
