"""The app that assembles the others: settings, urls, faces and commands."""

from django.apps import AppConfig
from django.utils.translation import gettext_noop

# Django adds no colon to a label that ends so; a translation names its own marks as well.
LABEL_ENDS = gettext_noop(":?.!")


class RekalSiteConfig(AppConfig):
    """Plain app configuration."""

    name = "rekal_site"
    verbose_name = "Rekal"
