"""Addresses of the pages about people, asking, and the door."""

from django.urls import path

from holders import door_views, me_views, question_views, sharing_views, views

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
    path("me/", me_views.me, name="me"),
    path("me/about/", me_views.about, name="me-about"),
    path("me/looks/", me_views.looks, name="me-looks"),
    path("me/keys/", me_views.make_token, name="me-token"),
    path("me/keys/<int:token_id>/end/", me_views.end_token, name="me-token-end"),
    path("me/copy/", me_views.take_a_copy, name="me-copy"),
    path("me/leave/", me_views.leaving, name="leave"),
    path("who-sees-what/", sharing_views.visibility, name="visibility"),
    path("who-sees-what/change/", sharing_views.change, name="change-visibility"),
    path("who-sees-what/as/<path:holder_id>/", sharing_views.view_as, name="view-as"),
    path("memories/<str:atom_id>/readers/", sharing_views.readers, name="memory-readers"),
    path("inbox/", question_views.inbox, name="inbox"),
    path("questions/", question_views.put, name="question-new"),
    path("questions/<str:question_id>/", question_views.question, name="question"),
    path("questions/<str:question_id>/answer/", question_views.answer, name="question-answer"),
    path("questions/<str:question_id>/pass/", question_views.pass_on, name="question-pass"),
    path("questions/<str:question_id>/again/", question_views.ask_instead, name="question-again"),
    path("questions/<str:question_id>/helped/", question_views.helped, name="question-helped"),
    path("questions/<str:question_id>/close/", question_views.close, name="question-close"),
]
