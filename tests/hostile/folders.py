"""Folders that a client may not open as a project: the system's, a whole home, where keys lie. `~` is the
home."""

CLOSED = (
    "/etc",
    "/etc/",
    "/etc/ssl",
    "//etc",
    "/tmp/../etc",
    "/proc",
    "/proc/self",
    "/proc/1",
    "/proc/self/cwd/../../../../../../../etc",
    "/proc/self/root/etc",
    "/sys",
    "/dev",
    "/boot",
    "/usr",
    "/usr/bin",
    "/usr/share",
    "/var",
    "/var/log",
    "/run",
    "/bin",
    "/lib",
    "/sbin",
    "~",
    "~/",
    "~/project/..",
    "~/..",
    "~/.ssh",
    "~/.gnupg/private",
    "~/.aws",
    "~/project/link-to-etc",
    "~/project/link-to-home",
)

ORDINARY = ("~/project", "~/project/src", "~/.config/thing", "~/notes", "~/.dotfiles")
