// The editor in the colours and sizes of the page (static/css/tokens.css).
import { HighlightStyle, syntaxHighlighting } from "../vendor/@codemirror/language/index.js";
import { EditorView } from "../vendor/@codemirror/view/index.js";
import { tags } from "../vendor/@lezer/highlight/index.js";

export const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--bg)", fontSize: "var(--text-small)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "var(--space-1) 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--bg)", color: "var(--soft)", border: "0" },
  ".cm-activeLineGutter, .cm-activeLine": { backgroundColor: "var(--panel)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-content ::selection": { backgroundColor: "var(--accent-soft)" },
  ".cm-selectionMatch": { backgroundColor: "var(--hover)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { color: "var(--bad)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "0", color: "var(--soft)", padding: "0 var(--space-1)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--text)", borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search, .cm-dialog": { padding: "var(--space-2) var(--space-7) var(--space-2) var(--space-3)", fontFamily: "var(--font)", fontSize: "var(--text-small)" },
  ".cm-textfield": { border: "1px solid var(--line-strong)", borderRadius: "var(--radius-small)", backgroundColor: "var(--raised)", color: "var(--text)", fontSize: "var(--text-small)", padding: "var(--space-1) var(--space-2)" },
  ".cm-button": { border: "1px solid var(--line-strong)", borderRadius: "var(--radius-small)", backgroundImage: "none", backgroundColor: "var(--raised)", color: "var(--text)", fontSize: "var(--text-small)" },
  ".cm-button:active": { backgroundImage: "none", backgroundColor: "var(--hover)" },
  ".cm-panel.cm-search [name=close], .cm-dialog-close": { color: "var(--soft)", fontSize: "var(--text-head)", cursor: "pointer" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".cm-tooltip": { border: "1px solid var(--line)", borderRadius: "var(--radius-small)", backgroundColor: "var(--raised)", color: "var(--text)", boxShadow: "var(--shadow)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--text)" },
  ".cm-about": { maxWidth: "60ch", maxHeight: "40vh", overflow: "auto", padding: "var(--space-2) var(--space-3)", fontFamily: "var(--font)", fontSize: "var(--text-small)" },
  ".cm-about pre": { margin: "0", fontFamily: "var(--mono)", whiteSpace: "pre-wrap" },
  ".cm-about .code-head": { display: "none" },
  ".cm-lineNumbers .cm-changed": { boxShadow: "inset -3px 0 var(--accent)", cursor: "pointer" },
  ".cm-lineNumbers .cm-removed": { boxShadow: "inset -3px 3px var(--bad)" },
  ".cm-lineNumbers .cm-kept": { boxShadow: "inset -3px 0 var(--good)" },
  ".cm-hunk": { maxWidth: "80ch", padding: "var(--space-2) var(--space-3)", fontFamily: "var(--font)", fontSize: "var(--text-small)" },
  ".cm-hunk pre": { margin: "0", maxHeight: "30vh", overflow: "auto", fontFamily: "var(--mono)", backgroundColor: "var(--del)" },
  ".cm-hunk p": { display: "flex", gap: "var(--space-2)", margin: "var(--space-1) 0" },
  ".cm-diagnostic": { fontFamily: "var(--font)", fontSize: "var(--text-small)" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn)" },
  ".cm-lintRange-info, .cm-lintRange-hint": { backgroundImage: "none", textDecoration: "underline dotted var(--soft)" },
  ".cm-specialChar": { color: "var(--bad)" },
});

export const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.self, tags.atom, tags.bool], color: "var(--code-keyword)" },
    { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.character, tags.inserted], color: "var(--code-string)" },
    { tag: [tags.comment, tags.meta, tags.processingInstruction], color: "var(--code-comment)" },
    { tag: [tags.number, tags.escape, tags.unit], color: "var(--code-number)" },
    { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.variableName), tags.tagName, tags.heading, tags.labelName, tags.macroName], color: "var(--code-name)" },
    { tag: [tags.typeName, tags.className, tags.namespace, tags.attributeName, tags.standard(tags.name)], color: "var(--code-type)" },
    { tag: [tags.link, tags.url], color: "var(--accent)", textDecoration: "underline" },
    { tag: [tags.deleted, tags.invalid], color: "var(--bad)" },
    { tag: tags.strong, fontWeight: "600" },
    { tag: tags.emphasis, fontStyle: "italic" },
    { tag: tags.strikethrough, textDecoration: "line-through" },
  ]),
);
