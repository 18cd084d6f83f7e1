"""The menu's way to the inbox, with how many questions wait there."""

from django import template
from django.template.context import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from holders.questions import waiting
from holders.templatetags.people import icon

register = template.Library()


@register.simple_tag(takes_context=True)
def inbox_link(context: Context) -> SafeString:
    """The entry of the menu; the number is read out as a sentence."""
    viewer, path, address = context.get("viewer"), context["request"].path, reverse("inbox")
    count = waiting(viewer) if viewer else 0
    said = ngettext("%(n)d question waits for you", "%(n)d questions wait for you", count) % {"n": count}
    badge = format_html(' <b class="count" title="{}">{}</b>', said, count) if count else ""
    here = SafeString(' aria-current="page"') if path.startswith(address) else ""
    return format_html(
        '<li><a href="{}"{}>{}<span>{}{}</span></a></li>', address, here, icon("inbox"), _("Inbox"), badge
    )
