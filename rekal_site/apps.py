"""The app that assembles the others: settings, urls, faces and commands."""

from django.apps import AppConfig


class RekalSiteConfig(AppConfig):
    """Plain app configuration."""

    name = "rekal_site"
    verbose_name = "Rekal"
