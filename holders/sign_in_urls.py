"""Addresses of signing in and out, by django-allauth; only the parts a household uses."""

from allauth.account import views as account
from django.apps import apps
from django.urls import include, path

from holders.door_views import SignInView, SignOutView, sign_out_everywhere

urlpatterns = [
    path("sign-in/", SignInView.as_view(), name="sign-in"),
    path("sign-out/", SignOutView.as_view(), name="sign-out"),
    path("sign-out/everywhere/", sign_out_everywhere, name="sign-out-everywhere"),
    path("account/sign-in/", SignInView.as_view(), name="account_login"),
    path("account/sign-out/", SignOutView.as_view(), name="account_logout"),
    path("account/sign-up/", account.signup, name="account_signup"),
    path("account/inactive/", account.account_inactive, name="account_inactive"),
    path("account/again/", account.reauthenticate, name="account_reauthenticate"),
    path("account/password/", account.password_change, name="account_change_password"),
    path("account/password/set/", account.password_set, name="account_set_password"),
    path("account/safer/", include("allauth.mfa.urls")),
    path("account/sessions/", include("allauth.usersessions.urls")),
]

if apps.is_installed("allauth.socialaccount"):
    urlpatterns += [
        path("account/linked/", include("allauth.socialaccount.urls")),
        path("account/", include("allauth.socialaccount.providers.openid_connect.urls")),
    ]
