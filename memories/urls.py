"""Addresses of the pages about memories."""

from django.urls import path

from memories import scenario_views, source_views, views

urlpatterns = [
    path("remember/", views.remember_page, name="remember"),
    path("remember/suggestions/", views.suggest, name="suggest"),
    path("memories/", views.browse, name="browse"),
    path("memories/change/", views.bulk, name="bulk"),
    path("memories/undo/", views.undo, name="undo-forget"),
    path("memories/<str:atom_id>/", views.memory, name="memory"),
    path("memories/<str:atom_id>/edit/", views.edit_memory, name="edit-memory"),
    path("memories/<str:atom_id>/share/", views.share, name="share-memory"),
    path("memories/<str:atom_id>/confirm/", views.confirm_memory, name="confirm-memory"),
    path("memories/<str:atom_id>/forget/", views.forget_memory, name="forget-memory"),
    path("files/", source_views.source_list, name="sources"),
    path("files/<str:source_id>/", source_views.source, name="source"),
    path("files/<str:source_id>/file/", source_views.download, name="source-file"),
    path("files/<str:source_id>/preview/", source_views.preview, name="source-preview"),
    path("files/<str:source_id>/taken/", source_views.taken, name="source-taken"),
    path("files/<str:source_id>/delete/", source_views.delete, name="delete-source"),
    path("situations/", scenario_views.scenario_list, name="scenarios"),
    path("situations/describe/", scenario_views.describe, name="describe-scenario"),
    path("situations/merge/", scenario_views.merge, name="merge-scenarios"),
    path("situations/remove/", scenario_views.remove, name="remove-scenario"),
]
