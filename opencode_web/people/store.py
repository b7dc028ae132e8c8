"""People, their roles, tokens and sign-ins: what is written of them. It runs on the ORM's thread."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from allauth.account import app_settings
from allauth.account.utils import user_pk_to_url_str
from django.apps import apps
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.urls import reverse
from django.utils.translation import gettext

from opencode_web.people.known import digest, held
from opencode_web.people.models import LONGEST_NAME, Membership, Person, SignIn, Token
from opencode_web.site.security.cookies import LIFETIME
from sessions.core.ids import now
from sessions.core.models import Project
from sessions.core.roles import Role
from sessions.core.store import logins

LONGEST_TOKEN_NAME = 64
_LONGEST_BROWSER = 200
ISSUER = "oidc"
"""What the rows of allauth call the issuer of OpenID Connect."""
_PREFIX = "ocw_"
"""By which tools that look for leaked secrets know one."""


class Refused(ValueError):
    """It cannot be so; the text is for the person who asked for it."""


@dataclass(frozen=True, slots=True)
class InProject:
    """A role in a project of a node, by their names."""

    project: str
    node: str
    role: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A person as the page shows them."""

    person: Person
    tokens: list[Token]
    sign_ins: list[SignIn]
    roles: list[InProject]


def add(name: str, role: Role, email: str = "") -> Person:
    """Somebody who has no password yet. Raises Refused for a name or an address that is none or is taken."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise Refused(gettext("A name has 1 to %(count)s letters.") % {"count": LONGEST_NAME})
    if Person.objects.filter(name__iexact=name).exists():
        raise Refused(gettext("There is somebody called %(name)s already.") % {"name": name})
    person = Person(name=name, role=role, email=_address(email), time_created=now())
    person.set_unusable_password()
    person.save()
    return person


def change_email(person: Person, email: str) -> None:
    """That by which an issuer knows them; empty for none. Raises Refused."""
    person.email = _address(email, person)
    person.save(update_fields=["email"])


def _address(email: str, of: Person | None = None) -> str:
    email = email.strip()
    if not email:
        return ""
    try:
        validate_email(email)
    except ValidationError as error:
        raise Refused(gettext("%(email)s is no e-mail address.") % {"email": email}) from error
    others = Person.objects.filter(email__iexact=email)
    if (others.exclude(pk=of.pk) if of else others).exists():
        raise Refused(gettext("Somebody has the address %(email)s already.") % {"email": email})
    return email


def account_at_issuer(person: Person) -> Any:
    """That by which they may sign in, as allauth has it; None where none is linked."""
    return _accounts(person).first()


def unlink(person: Person) -> None:
    """Raises Refused where they could not sign in any more."""
    if not person.has_usable_password():
        raise Refused(gettext("Have a password first: else you could not sign in any more."))
    _accounts(person).delete()


def _accounts(person: Person) -> Any:
    """The application is installed where there is an issuer."""
    model = apps.get_app_config("socialaccount").get_model("SocialAccount")
    return model._default_manager.filter(user=person, provider=ISSUER)


def link_for(person: Person) -> str:
    """The path by which they choose a password, once, within three days, at the front where there is one;
    what they had before stays until then."""
    key = app_settings.PASSWORD_RESET_TOKEN_GENERATOR().make_token(person)
    place = {"uidb36": user_pk_to_url_str(person), "key": key}
    path = reverse("account_reset_password_from_key", kwargs=place)
    at_front = settings.FRONT_PATH + path.removeprefix(f"{settings.BASE_PATH}/")
    return at_front if settings.FRONT_PATH else path


def find(name: str) -> Person | None:
    return Person.objects.filter(name=name).first()


def get(person_id: object) -> Person | None:
    return Person.objects.filter(pk=person_id).first()


def everybody() -> list[Listed]:
    """By name."""
    return [listed(person) for person in Person.objects.order_by("name")]


def listed(person: Person) -> Listed:
    return Listed(
        person,
        list(Token.objects.filter(person=person).order_by("-time_created")),
        _signed_in(person),
        _in_projects(person),
    )


def _signed_in(person: Person) -> list[SignIn]:
    """Where they still are: of what was ended the guard has the end alone."""
    oldest = now() - LIFETIME * 1000
    rows = SignIn.objects.filter(person=person, time_created__gt=oldest).order_by("-time_created")
    ended = {id for id, _ in logins.ended()}
    return [row for row in rows if row.id not in ended]


def _in_projects(person: Person) -> list[InProject]:
    """A project of another machine has no name here."""
    rows = list(Membership.objects.filter(person=person).order_by("node", "project"))
    ids = [row.project for row in rows if row.node == node()]
    names = dict(Project.objects.filter(id__in=ids).values_list("id", "name"))
    return [
        InProject(names.get(row.project, row.project), row.node, str(Role(row.role).label)) for row in rows
    ]


def change(person: Person, role: Role | None = None, active: bool | None = None) -> None:
    """Raises Refused where nobody would be left who administers."""
    administered = person.is_active and person.role == Role.ADMINISTER
    if role is not None:
        person.role = role
    if active is not None:
        person.is_active = active
    administers = person.is_active and person.role == Role.ADMINISTER
    others = Person.objects.filter(is_active=True, role=Role.ADMINISTER).exclude(pk=person.pk)
    if administered and not administers and not others.exists():
        raise Refused(gettext("Somebody has to administer."))
    person.save(update_fields=["role", "is_active"])


def change_in_project(person: Person, project: str, role: Role | None, node: str = "") -> None:
    """In place of their own role; None: their own again."""
    if role is None:
        Membership.objects.filter(person=person, node=node, project=project).delete()
    else:
        Membership.objects.update_or_create(
            person=person, node=node, project=project, defaults={"role": role}
        )


def make_token(person: Person, name: str, role: Role) -> str:
    """A new token, of which only this answer says what it is. Raises Refused for a name that is none."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_TOKEN_NAME:
        raise Refused(gettext("A name has 1 to %(count)s letters.") % {"count": LONGEST_TOKEN_NAME})
    token = _PREFIX + secrets.token_urlsafe(32)
    Token.objects.create(
        person=person, name=name, digest=digest(token), role=role, time_created=now(), time_used=None
    )
    return token


def remove_token(person: Person, id: str) -> list[str]:
    """What is held under the names that this gives is to be closed."""
    rows = Token.objects.filter(person=person, pk=id) if id.isdecimal() else Token.objects.none()
    names = [held(token) for token in rows]
    rows.delete()
    return names


def end_sign_in(person: Person, id: str) -> list[str]:
    """As `remove_token`; an empty id is that of none."""
    return [id] if SignIn.objects.filter(person=person, pk=id).delete()[0] else []


def end_sign_ins(person: Person, but: str) -> list[str]:
    """All of them save one. What is held under the names that this gives is to be closed."""
    rows = SignIn.objects.filter(person=person).exclude(pk=but)
    names = list(rows.values_list("id", flat=True))
    rows.delete()
    return names


def sign_in(person_id: object, login: str, browser: str, client: str) -> None:
    """Somebody is let in by a login of this id, in a `browser` (its User-Agent) at an address."""
    SignIn.objects.create(
        id=login,
        person_id=person_id,
        browser=browser[:_LONGEST_BROWSER],
        client=client,
        time_created=now(),
    )


def open_names(person: Person) -> list[str]:
    """All names under which is held what a person has open."""
    tokens = [held(token) for token in Token.objects.filter(person=person)]
    sign_ins = SignIn.objects.filter(person=person).values_list("id", flat=True)
    return [f"person:{person.pk}", *tokens, *sign_ins]


def node() -> str:
    """Where projects of this server are: its name in a team of nodes."""
    return str(settings.NODE)
