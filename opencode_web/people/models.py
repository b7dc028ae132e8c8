from __future__ import annotations

import uuid
from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower

from sessions.core import browsers
from sessions.core.roles import Role

LONGEST_NAME = 64


class Person(AbstractBaseUser):
    """Somebody of a team. `name` is what they sign in with and what others see, `role` what they may do where
    no membership says otherwise; `email` is what an issuer may know them by. Who is not `is_active` is
    switched off: what they did stays theirs."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=LONGEST_NAME, unique=True)
    role = models.CharField(max_length=16, choices=Role.choices, blank=True, default=Role.SEE)
    email = models.CharField(max_length=254, blank=True, default="")
    is_active = models.BooleanField(default=True)
    time_created = models.BigIntegerField()

    objects: ClassVar[BaseUserManager[Person]] = BaseUserManager()  # type: ignore[assignment]

    USERNAME_FIELD = "name"

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), condition=~models.Q(email=""), name="one_person_an_email")
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """The role of a person in a project of a node (empty without nodes), in place of their own."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="memberships")
    node = models.CharField(max_length=40, blank=True)
    project = models.CharField(max_length=40)
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)

    objects: models.Manager[Membership] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "node", "project"], name="one_role_a_project")
        ]


class Token(models.Model):
    """What a client signs in with in place of a person: only its SHA-256 is kept. `role` is the most that it
    may do, `name` what the person calls it. Times in ms since 1970."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=16, choices=Role.choices)
    time_created = models.BigIntegerField()
    time_used = models.BigIntegerField(null=True)

    objects: models.Manager[Token] = models.Manager()


class SignIn(models.Model):
    """A browser in which a person is signed in; `id` is that of the login in the guard's cookie, `browser`
    its User-Agent. Times in ms since 1970."""

    id = models.CharField(primary_key=True, max_length=64)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="sign_ins")
    browser = models.CharField(max_length=200, blank=True)
    client = models.CharField(max_length=64, blank=True)
    time_created = models.BigIntegerField()

    objects: models.Manager[SignIn] = models.Manager()

    @property
    def kind(self) -> str:
        """Of the browser, and the system that it runs on."""
        return browsers.named(self.browser)
