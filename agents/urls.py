from django.urls import path

from agents import pickers

urlpatterns = [
    path("models", pickers.models),
    path("agents", pickers.agent_picker),
    path("status", pickers.status),
    path("choose", pickers.choose),
]
