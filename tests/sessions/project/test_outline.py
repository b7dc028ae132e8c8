"""What files of the usual languages consist of, as their text tells."""

from __future__ import annotations

import pytest

from sessions.project.outline import LONGEST, Symbol, outline
from tests.hostile.texts import TEXTS

TEXTS_AND_SYMBOLS = {
    "a.py": (
        "class A(B):\n    @d\n    def f(self): return g(1)\nasync def h(): pass\nX = 1\n",
        ["class:1 A", "method:3 A.f", "function:4 h"],
    ),
    "a.js": (
        "class A extends B {\n"
        "  static m(x) { return call(x) }\n"
        "  async n() {}\n"
        "  get v() {}\n"
        "}\n"
        "function f(a) {}\n"
        "export const g = (x) => x;\n"
        "export async function h() {}\n",
        [
            "class:1 A",
            "method:2 A.m",
            "method:3 A.n",
            "method:4 A.v",
            "function:6 f",
            "function:7 g",
            "function:8 h",
        ],
    ),
    "a.ts": (
        "export interface I { a: string }\n"
        "export class A<T> {\n"
        "  private m(x: number): void { call(x) }\n"
        "}\n"
        "type T = string\n"
        "enum E { A }\n"
        "function f(a: string): void {}\n"
        "const g = async (x: T) => x\n"
        "namespace N {}\n",
        [
            "class:1 I",
            "class:2 A",
            "method:3 A.m",
            "class:5 T",
            "class:6 E",
            "function:7 f",
            "function:8 g",
            "namespace:9 N",
        ],
    ),
    "a.go": (
        "package main\n"
        "func (t *T) M(a int) error { return f(a) }\n"
        "func F() {}\n"
        "type T struct {}\n"
        "type I interface {}\n",
        ["function:2 M", "function:3 F", "class:4 T", "class:5 I"],
    ),
    "a.rs": (
        "pub struct S { a: i32 }\n"
        "impl<T> Tr for S {\n"
        "    pub fn m(&self) -> i32 { f(1) }\n"
        "}\n"
        "fn f<T>(x: T) {}\n"
        "enum E { A }\n"
        "trait Tr {}\n"
        "mod m {}\n"
        "macro_rules! mm {}\n",
        [
            "class:1 S",
            "class:2 S",
            "method:3 S.m",
            "function:5 f",
            "class:6 E",
            "class:7 Tr",
            "namespace:8 m",
            "function:9 mm",
        ],
    ),
    "a.java": (
        "package x;\n"
        "public class A extends B {\n"
        "  @Override\n"
        "  public int m(int a) { return call(a); }\n"
        "  interface I {}\n"
        "  enum E { A }\n"
        "  A() {}\n"
        "}\n",
        ["class:2 A", "method:4 A.m", "class:5 A.I", "class:6 A.E"],
    ),
    "a.c": (
        "struct s { int a; };\nstatic int f(int a) { return g(a); }\nint main(void)\n{\n  f(1);\n}\n",
        ["class:1 s", "function:2 f", "function:3 main"],
    ),
    "a.cpp": (
        "namespace n {\n"
        "class A : public B {\n"
        " public:\n"
        "  A();\n"
        "  int m(int a) { return f(a); }\n"
        "};\n"
        "int A::k() const { return 1; }\n"
        "}\n",
        ["namespace:1 n", "class:2 A", "method:5 A.m", "function:7 A::k"],
    ),
    "a.cs": (
        "namespace N {\n"
        " public class A {\n"
        "  public int M(int a) { return F(a); }\n"
        "  public string P { get; set; }\n"
        " }\n"
        "}\n",
        ["namespace:1 N", "class:2 N.A", "method:3 A.M"],
    ),
    "a.rb": (
        "module M\n  class A < B\n    def f(a)\n      g(a)\n    end\n    def self.k; end\n  end\nend\n",
        ["namespace:1 M", "class:2 M.A", "method:3 A.f", "method:6 A.k"],
    ),
    "a.php": (
        "<?php\nclass A {\n  public function m($a) { return f($a); }\n}\nfunction f($a) {}\n",
        ["class:2 A", "method:3 A.m", "function:5 f"],
    ),
    "a.swift": (
        "class A {\n  func m(a: Int) -> Int { f(a) }\n}\nstruct S {}\nprotocol P {}\nextension A {}\n",
        ["class:1 A", "method:2 A.m", "class:4 S", "class:5 P", "class:6 A"],
    ),
    "a.kt": (
        "class A(val x: Int) {\n  fun m(a: Int) = f(a)\n}\nfun f() {}\nobject O {}\ninterface I\n",
        ["class:1 A", "method:2 A.m", "function:4 f", "class:5 O", "class:6 I"],
    ),
    "a.sh": (
        "f() {\n  echo a\n}\nfunction g {\n true\n}\n",
        ["function:1 f", "function:4 g"],
    ),
    "a.lua": (
        "function f(a) end\nlocal function g() end\nfunction M.k() end\n",
        ["function:1 f", "function:2 g", "function:3 k"],
    ),
    "a.scala": (
        "class A {\n  def m(a: Int) = f(a)\n}\nobject O\ntrait T\n",
        ["class:1 A", "method:2 A.m", "class:4 O", "class:5 T"],
    ),
    "a.md": (
        "# One\n\n## Two `x`\n\n```\n# no\n```\n",
        ["heading:1 One", "heading:3 One.Two `x`"],
    ),
    "a.toml": (
        "a = 1\n[tool.x]\nb = 2\n[[y]]\n",
        ["key:1 a", "namespace:2 tool.x", "key:3 tool.x.b", "namespace:4 y"],
    ),
    "a.yaml": (
        "a:\n  b: 1\n  c:\n    - d: 2\n",
        ["key:1 a", "key:2 a.b", "key:3 a.c", "key:4 c.d"],
    ),
    "a.json": (
        '{\n  "a": {"b": 1},\n  "c": [{"d": 2}]\n}\n',
        ["key:2 a", "key:2 a.b", "key:3 c", "key:3 c.d"],
    ),
}


def told(symbol: Symbol) -> str:
    within = f"{symbol.container}." if symbol.container else ""
    return f"{symbol.kind}:{symbol.line} {within}{symbol.name}"


@pytest.mark.parametrize("name", TEXTS_AND_SYMBOLS)
def test_symbols_come_in_order_with_what_they_are_in(name: str) -> None:
    text, symbols = TEXTS_AND_SYMBOLS[name]
    assert [told(one) for one in outline(text, f"folder/{name}")] == symbols


def test_a_symbol_has_the_place_of_its_name() -> None:
    text = "class A:\n    def act(self):\n        pass\n"
    assert outline(text, "a.py")[1] == Symbol("act", "method", 2, 9, "A")


def test_what_is_said_in_strings_and_comments_defines_nothing() -> None:
    assert outline('"""\nclass A:\n"""\n# def f(): pass\nx = "def g(): pass"\n', "a.py") == []
    assert outline("// class A {}\nconst text = `function f() {}`;\n", "a.js") == []


def test_an_unknown_language_and_a_huge_text_have_none() -> None:
    assert outline("class A", "a.unknown") == outline("class A", "") == []
    assert outline("# a\n" * LONGEST, "a.md") == []


@pytest.mark.parametrize("name", ["a.py", "a.js", "a.cpp", "a.md", "a.json", "a.yaml", "a.toml", "a.sh"])
def test_hostile_texts_come_to_an_end(name: str) -> None:
    """Longer ones are read in another process, which is ended."""
    for text in TEXTS.values():
        outline(text(4000), name)
