"""Addresses of the pages about memories."""

from django.urls import path

from memories import scenario_views, views

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
    path("situations/", scenario_views.scenario_list, name="scenarios"),
    path("situations/describe/", scenario_views.describe, name="describe-scenario"),
    path("situations/merge/", scenario_views.merge, name="merge-scenarios"),
    path("situations/remove/", scenario_views.remove, name="remove-scenario"),
]
