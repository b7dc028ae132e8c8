"""What programs read of the catalogues in `opencode_web/locale`: a `django.mo` of each for Python, and a
script of each for the pages. Hatchling makes them before it builds or installs; in a checkout
`python opencode_web/catalogues.py` does (`make`)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polib
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_PLURAL = re.compile(r"plural\s*=\s*([^;]+)")


class Hook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        compile_catalogues(Path(self.root))


def compile_catalogues(root: Path) -> None:
    """Of each language in the project at `root`."""
    scripts = root / "static" / "words"
    for file in sorted((root / "opencode_web" / "locale").glob("*/LC_MESSAGES/*.po")):
        catalogue = polib.pofile(str(file))
        if file.stem == "django":
            catalogue.save_as_mofile(str(file.with_suffix(".mo")))
            continue
        scripts.mkdir(exist_ok=True)
        code = file.parent.parent.name.replace("_", "-").lower()
        (scripts / f"{code}.js").write_text(script(catalogue), encoding="utf-8")


def script(catalogue: polib.POFile) -> str:
    """What `static/js/words.js` looks texts up in. A rule of plurals (gettext, 11.2.6) is JavaScript, too."""
    found = _PLURAL.search(catalogue.metadata["Plural-Forms"])
    if found is None:
        raise ValueError(f"{catalogue.fpath} says nothing of plurals")
    words = {
        entry.msgid: [entry.msgstr_plural[form] for form in sorted(entry.msgstr_plural)]
        if entry.msgid_plural
        else entry.msgstr
        for entry in catalogue.translated_entries()
    }
    told = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
    return f"window.catalogue = {{ plural: (n) => Number({found[1].strip()}), words: {told} }};\n"


if __name__ == "__main__":
    compile_catalogues(Path(__file__).resolve().parent.parent)
