"""Addresses of the pages about people, asking, and the door."""

from django.urls import path

from holders import door_views, views

urlpatterns = [
    path("", views.ask, name="ask"),
    path("recent/clear/", views.clear_recent, name="clear-recent"),
    path("people/", views.people, name="people"),
    path("people/topic/", views.topic, name="topic"),
    path("people/add/", views.add_person, name="add-person"),
    path("people/<path:holder_id>/register/", views.register, name="register-person"),
    path("people/<path:holder_id>/", views.person, name="person"),
    path("first-run/", door_views.first_run, name="first-run"),
    path("invitation/<str:plain>/", door_views.invitation, name="invitation"),
    path("look/", door_views.look, name="look"),
]
