"""Template words about time: store text as the reader says it, in her zone and language."""

from datetime import datetime, timedelta
from typing import Any

from django import template
from django.utils import formats, timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from memories import timestamps

register = template.Library()
DATE_PRECISIONS = {"day": "DATE_FORMAT", "month": "YEAR_MONTH_FORMAT", "year": "Y"}


def _local(text: str) -> datetime:
    """A moment in the reader's zone; one without a zone (a camera's clock) is taken to be in it."""
    value = timestamps.from_text(text)
    return timezone.localtime(value) if value.tzinfo else timezone.make_aware(value)


@register.filter
def moment(text: str | None) -> SafeString | str:
    """A moment: date and time in the reader's zone."""
    if not text:
        return ""
    local = _local(text)
    return format_html(
        '<time datetime="{}">{}</time>', local.isoformat(), formats.date_format(local, "DATETIME_FORMAT")
    )


@register.filter
def day(text: str | None) -> SafeString | str:
    """The day a moment falls on in the reader's zone."""
    if not text:
        return ""
    local = _local(text)
    return _time(local.date().isoformat(), formats.date_format(local, "DATE_FORMAT"))


@register.filter
def last_day(text: str | None) -> SafeString | str:
    """The last day on which something that ends at this moment still holds."""
    if not text:
        return ""
    local = timezone.localtime(timestamps.from_text(text) - timedelta(milliseconds=1))
    return _time(local.date().isoformat(), formats.date_format(local, "DATE_FORMAT"))


@register.filter
def event(memory: Any) -> SafeString | str:
    """When it happened, as exactly as it is known; a date alone is the same date in every zone."""
    if not memory.event_time:
        return ""
    begin, words = _event_words(memory.event_time, memory.event_time_precision)
    if not memory.event_time_end or memory.event_time_end == memory.event_time:
        return _time(begin, words)
    end, until = _event_words(memory.event_time_end, memory.event_time_precision)
    if begin[:10] == end[:10] and "T" in end:  # the same day: say it once
        until = formats.date_format(
            timezone.localtime(timestamps.from_text(memory.event_time_end)), "TIME_FORMAT"
        )
    return format_html("{} – {}", _time(begin, words), _time(end, until))


def _event_words(text: str, precision: str) -> tuple[str, str]:
    value = timestamps.from_text(text)
    if precision in DATE_PRECISIONS:
        width = {"day": 10, "month": 7, "year": 4}[precision]
        return value.isoformat()[:width], formats.date_format(value, DATE_PRECISIONS[precision])
    local = timezone.localtime(value)
    return local.isoformat(), formats.date_format(local, "DATETIME_FORMAT")


def _time(machine: str, words: str) -> SafeString:
    return format_html('<time datetime="{}">{}</time>', machine, words)


@register.filter
def state(memory: Any) -> str:
    """`past`, `future`, `ending` (within thirty days) or `current`."""
    now = timestamps.now()
    if memory.valid_to and memory.valid_to <= now:
        return "past"
    if memory.valid_from and memory.valid_from > now:
        return "future"
    soon = timestamps.to_text(timestamps.from_text(now) + timedelta(days=30))
    ends = min((one for one in (memory.valid_to, memory.retention_until) if one), default="")
    return "ending" if ends and ends <= soon else "current"


@register.filter
def state_words(memory: Any) -> str:
    """The state as a badge says it; nothing for what is simply true now."""
    return {"past": _("No longer true"), "future": _("Not yet true"), "ending": _("Ends soon")}.get(
        state(memory), ""
    )
