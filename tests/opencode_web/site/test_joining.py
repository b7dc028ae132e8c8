"""Sources of scripts and style sheets made into one file each, and how long a browser may keep them."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import brotli
import pytest
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template import Context, Template
from django.test import override_settings

from opencode_web.site.joining import Unjoinable, join
from tests.opencode_web.site.test_static_files import ask

STATIC = Path(settings.STATICFILES_DIRS[0])
SOURCES = {
    "count": "export let nothing;",
    "state": "export const seen = [];\nexport function see(name) {\n  seen.push(name);\n}\n",
    "first": 'import { see as look } from "./state.js";\nlook("first");\n',
    "second": 'import "./first.js";\nimport { see, seen } from "./state.js";\nsee("second");\n'
    'import("./late.js").then(({ tell }) => tell(seen));\n',
    "late": 'import { far } from "../vendor/far.js";\nimport { more } from "./more.js";\n'
    'import { see } from "./state.js";\nexport async function tell(seen) {\n  see(far);\n  see(more);\n'
    "  console.log(seen.join());\n}\nawait null;\n",
    "more": 'export const more = "more";\n',
    "egg": 'import "./hen.js";\n',
    "hen": 'import "./egg.js";\n',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "js").mkdir()
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "far.js").write_text('export const far = "far";\n')
    for name, source in SOURCES.items():
        (tmp_path / "js" / f"{name}.js").write_text(source)
    return tmp_path


def test_each_module_runs_once_and_after_what_it_imports(folder: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    (folder / "joined").mkdir()
    (folder / "package.json").write_text('{"type": "module"}')
    for file in ("first,second.js", "first,second+late.js", "first,second+more.js"):
        (folder / "joined" / file).write_text(join(folder, file))
    ran = subprocess.run(
        [node, folder / "joined" / "first,second.js"], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "first,second,far,more\n"


def test_remarks_are_not_sent_but_what_looks_like_one_is(folder: Path) -> None:
    kept = ['const address = "http://here/; // there";', "const text = `; // no remark`;"]
    lines = ["// Above.", "const count = 1; // that many", "", "  // Within.", *kept]
    (folder / "js" / "said.js").write_text("\n".join(lines))
    joined = join(folder, "said.js")
    assert [line for line in kept if line not in joined] == []
    assert f"const count = 1;\n{kept[0]}\n" in joined
    assert [words for words in ("Above", "that many", "Within") if words in joined] == []


def test_what_a_line_begins_with_is_not_sent(folder: Path) -> None:
    joined = join(folder, "first,second.js")
    assert [line for line in joined.splitlines() if line != line.lstrip()] == []
    assert "seen.push(name);" in joined


def test_no_script_has_a_string_of_several_lines() -> None:
    """Whose lines would lose what they begin with."""
    aside = re.compile(r"""\\`|"[^"\n]*"|'[^'\n]*'|/`\+/g""")
    for path in (STATIC / "js").glob("*.js"):
        for line in path.read_text().splitlines():
            assert aside.sub("", line).count("`") % 2 == 0, f"{path.name}: {line}"


@pytest.mark.parametrize(
    "file", ["count.js", "egg.js", "none.js", "first+none.js", "none.css", "first.txt", ""]
)
def test_what_cannot_be_joined_is_refused(folder: Path, file: str) -> None:
    with pytest.raises(Unjoinable):
        join(folder, file)


@pytest.mark.parametrize("name", sorted(path.stem for path in (STATIC / "js").glob("*.js")))
def test_every_script_of_ours_can_be_joined(name: str) -> None:
    assert f"const ${name.replace('-', '_')} = " in join(STATIC, f"{name}.js")


def test_style_sheets_stay_in_their_order() -> None:
    sources = "".join((STATIC / "css" / f"{name}.css").read_text() for name in ("tokens", "base"))
    plain = re.sub(r"/\*.*?\*/", "", sources, flags=re.DOTALL)
    assert re.sub(r"\s", "", join(STATIC, "tokens,base.css")) == re.sub(r"\s", "", plain)


def test_white_space_that_says_something_stays(tmp_path: Path) -> None:
    (tmp_path / "css").mkdir()
    sheet = """
    .a :hover, .b > .c::after {
      content: " { ; , : } " / "";  /* said */
      width: calc(1px + 2px);
    }
    @media (width <= 9px) { .a { color: var(--x, red) } }
    """
    (tmp_path / "css" / "one.css").write_text(sheet)
    assert join(tmp_path, "one.css").strip() == (
        '.a :hover,.b > .c::after{content:" { ; , : } " / "";width:calc(1px + 2px);}'
        "@media (width <= 9px){.a{color:var(--x,red)}}"
    )


HEAD = """{% load static %}{% joined %}
<link rel="stylesheet" href="{% static 'css/tokens.css' %}">
<script type="module" src="{% static 'js/time.js' %}"></script>
<link rel="stylesheet" href="{% static 'css/base.css' %}">
<script type="module" src="{% static 'js/dialog.js' %}"></script>{% endjoined %}"""


async def test_a_page_names_one_file_of_each_kind_for_good() -> None:
    head = Template(HEAD).render(Context())
    urls = re.findall(r'(?:href|src)="([^"]+)"', head)
    assert [url.rpartition("/")[2] for url in urls] == ["tokens,base.css", "time,dialog.js"]
    for url in [*urls, staticfiles_storage.url("icon.svg")]:
        plain = (await ask(url))[2]
        for coding, accepted, unpack in (
            ("br", "gzip, br", brotli.decompress),
            ("gzip", "gzip, br;q=0", gzip.decompress),
        ):
            status, headers, body = await ask(url, accept_encoding=accepted)
            assert (status, headers[b"content-encoding"]) == (200, coding.encode())
            assert b"immutable" in headers[b"cache-control"]
            assert unpack(body) == plain
    name = urls[0].rpartition("/")[2]
    status, headers, _ = await ask(f"/static/{'0' * 16}/joined/{name}")
    assert (status, headers[b"cache-control"]) == (200, b"no-cache")
    for wrong in ("missing", "base"):
        assert (await ask(urls[0].replace("tokens", wrong)))[0] == 404
    assert (await ask(urls[0], "POST"))[0] == 405


@override_settings(DEBUG=True)
def test_the_sources_stay_as_they_are_to_whoever_works_on_them() -> None:
    head = Template(HEAD).render(Context())
    assert "/static/css/tokens.css" in head
    assert "/static/js/dialog.js" in head
    assert "joined" not in head
