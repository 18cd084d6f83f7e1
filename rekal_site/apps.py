"""The app that assembles the others: settings, urls, faces and commands."""

from django.apps import AppConfig
from django.utils.translation import gettext_noop

LABEL_ENDS = gettext_noop(":?.!")  # Django adds no colon after these; a translation names its own marks as well


class RekalSiteConfig(AppConfig):
    """Plain app configuration."""

    name = "rekal_site"
    verbose_name = "Rekal"
