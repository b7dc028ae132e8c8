"""Addresses of this machine and of private networks, in the ways that they can be written."""

LOCAL = (
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "017700000001",
    "0.0.0.0",  # noqa: S104
    "0",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fd00::1]",
    "[ff02::1]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "224.0.0.1",
    "printer",
    "metadata.google.internal",
    "nas.local",
    "router.home.arpa",
    "wiki.corp",
)

PUBLIC = ("93.184.215.14", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]", "a-name-that-is-not-known.example.com")
"""Asked of the proxy without a word."""
