"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path

from rekal_site import api, views

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", api.urls),
    path("manifest.webmanifest", views.manifest, name="manifest"),
    path("service-worker.js", views.service_worker, name="service-worker"),
    path("offline/", views.offline, name="offline"),
    path("", include("holders.sign_in_urls")),
    path("", include("holders.urls")),
    path("", include("memories.urls")),
]
