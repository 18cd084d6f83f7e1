"""Django's admin as an app of ours. A module of its own, since Django picks an app's configuration from its `apps`."""

from django.contrib.admin.apps import AdminConfig


class CuratorAdminConfig(AdminConfig):
    """The curators' site in the place of Django's own."""

    default_site = "rekal_site.admin.CuratorSite"
