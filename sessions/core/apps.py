from django.apps import AppConfig


class SessionsConfig(AppConfig):
    name = "sessions.core"
    label = "opencode_sessions"  # `sessions` is the label of django.contrib.sessions
    default_auto_field = "django.db.models.BigAutoField"
