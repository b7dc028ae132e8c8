"""An issuer of OpenID Connect on the loopback: discovery, authorization, token, keys, userinfo."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Callable
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "opencode-web", "a secret of the client"
Claims = dict[str, Any]


class Issuer:
    """Whoever comes is signed in as `person` at once. `amend` changes the claims of the next tokens, `key`
    signs them; `asked` are the queries of the authorizations, as they came."""

    def __init__(self) -> None:
        self.person: Claims = {"sub": "1", "email": "ada@example.com", "email_verified": True, "name": "Ada"}
        self.userinfo: Claims = {}
        self.amend: Callable[[Claims], Claims] = dict
        self.key = self._known = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.algorithm = "RS256"
        self.refuses = False
        self.asked: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.calls_itself = self.address

    def __enter__(self) -> Issuer:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(issuer) -> type[BaseHTTPRequestHandler]:  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                match url.path:
                    case "/.well-known/openid-configuration":
                        self._say(issuer._discovery())
                    case "/authorize":
                        self.send_response(302)
                        self.send_header("Location", issuer._authorized(query))
                        self.end_headers()
                    case "/keys":
                        self._say({"keys": [issuer._jwk()]})
                    case "/userinfo":
                        self._say({**issuer.person, **issuer.userinfo})
                    case _:
                        self.send_error(404)

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                form = {
                    name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()
                }
                token = issuer._token(form)
                self._say(token or {"error": "invalid_grant"}, 200 if token else 400)

            def _say(self, body: Claims, status: int = 200) -> None:
                said = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_: object) -> None:
                """Nothing is said."""

        return Handler

    def _discovery(self) -> Claims:
        names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.calls_itself,
            "jwks_uri": f"{self.address}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **{f"{name}_endpoint": f"{self.address}/{path}" for name, path in names.items()},
        }

    def _authorized(self, query: dict[str, str]) -> str:
        self.asked.append(query)
        if self.refuses:
            said = {"error": "access_denied", "state": query["state"]}
        else:
            code = secrets.token_urlsafe(8)
            self._codes[code] = query
            said = {"code": code, "state": query["state"]}
        return f"{query['redirect_uri']}?{urlencode(said)}"

    def _token(self, form: dict[str, str]) -> Claims | None:
        query = self._codes.pop(form.get("code", ""), None)
        digest = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if query is None or query["code_challenge"] != challenge:
            return None
        if form.get("client_id") != CLIENT_ID or form.get("client_secret") != CLIENT_SECRET:
            return None
        now = int(time.time())
        claims = {
            "iss": self.calls_itself,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": query.get("nonce"),
            **self.person,
        }
        made = jwt.encode(self.amend(claims), self.key, self.algorithm, headers={"kid": "one"})
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 300, "id_token": made}

    def _jwk(self) -> Claims:
        public: Claims = jwt.algorithms.RSAAlgorithm.to_jwk(self._known.public_key(), as_dict=True)
        return {**public, "kid": "one", "use": "sig", "alg": "RS256"}
