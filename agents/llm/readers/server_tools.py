"""What a provider ran itself while it answered (OpenAI's hosted tools, Anthropic's server tools, searches of
others): each as one ProviderCall, with its result where the stream has it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agents.llm.types import FileContent, ProviderCall

_OPENAI = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
    }
)


def hosted(item: Mapping[str, Any]) -> bool:
    """Whether an item of a response's output is a call that OpenAI makes itself."""
    return item.get("type") in _OPENAI


def name_of(item: Mapping[str, Any]) -> str:
    kind = str(item.get("type", ""))
    return str(item.get("name") or "mcp") if kind == "mcp_call" else kind.removesuffix("_call")


def of_openai(item: Mapping[str, Any], call_id: str) -> ProviderCall:
    """The call of a finished item. A picture does not go back: it would cost its size at every step."""
    found = _OPENAI_RESULTS.get(str(item.get("type")), _as_it_stands)(item)
    given, output, files = found
    error = item.get("error") or ("It failed." if item.get("status") == "failed" else "")
    return ProviderCall(
        call_id,
        name_of(item),
        {key: value for key, value in given.items() if value},
        output,
        items=() if files else (dict(item),),
        attachments=files,
        error=error if isinstance(error, str) else json.dumps(error, ensure_ascii=False),
    )


_Result = tuple[Mapping[str, Any], str, tuple[FileContent, ...]]


def _web_search(item: Mapping[str, Any]) -> _Result:
    action = _mapping(item.get("action"))
    given = {name: action.get(name) for name in ("query", "queries", "url", "pattern")}
    return given, links(action.get("sources") or ()), ()


def _file_search(item: Mapping[str, Any]) -> _Result:
    results = [_mapping(result) for result in item.get("results") or ()]
    texts = (f"{result.get('filename', '')}\n{result.get('text', '')}".strip() for result in results)
    return {"queries": item.get("queries")}, "\n\n".join(texts), ()


def _code(item: Mapping[str, Any]) -> _Result:
    outputs = [_mapping(output) for output in item.get("outputs") or ()]
    return (
        {"code": item.get("code")},
        "\n".join(str(o.get("logs") or o.get("url") or "") for o in outputs),
        (),
    )


def _image(item: Mapping[str, Any]) -> _Result:
    mime = f"image/{item.get('output_format') or 'png'}"
    files = (FileContent(mime, item["result"]),) if item.get("result") else ()
    return {"prompt": item.get("revised_prompt")}, "", files


def _mcp(item: Mapping[str, Any]) -> _Result:
    return _arguments(item.get("arguments")), str(item.get("output") or ""), ()


def _mcp_tools(item: Mapping[str, Any]) -> _Result:
    names = "\n".join(str(_mapping(tool).get("name", "")) for tool in item.get("tools") or ())
    return {"server": item.get("server_label")}, names, ()


def _as_it_stands(item: Mapping[str, Any]) -> _Result:
    return {}, "", ()


_OPENAI_RESULTS = {
    "web_search_call": _web_search,
    "file_search_call": _file_search,
    "code_interpreter_call": _code,
    "image_generation_call": _image,
    "mcp_call": _mcp,
    "mcp_list_tools": _mcp_tools,
}


def of_anthropic(use: Mapping[str, Any], result: Mapping[str, Any]) -> ProviderCall:
    """A `server_tool_use` or `mcp_tool_use` block with the result block that names it; both go back."""
    content = result.get("content")
    error = str(content.get("error_code") or "") if isinstance(content, Mapping) else ""
    if result.get("is_error"):
        error = _text(content) or "It failed."
    output = "" if error else _text(content)
    given = _mapping(use.get("input"))
    return ProviderCall(use["id"], use["name"], given, output, items=(use, result), error=error)


def sources(call_id: str, found: Iterable[Any], queries: Iterable[str] = ()) -> ProviderCall:
    """A search of which nothing but its queries and what it found is known. Nothing of it goes back."""
    asked = [query for query in queries if query]
    return ProviderCall(call_id, "web_search", {"queries": asked} if asked else {}, links(found))


def links(found: Iterable[Any]) -> str:
    """A line each: title and address, as far as they are given."""
    lines: dict[str, None] = {}
    for one in found:
        place = _mapping(one)
        place = _mapping(place.get("url_citation") or place.get("web") or place)
        url = one if isinstance(one, str) else place.get("url") or place.get("uri") or ""
        title = place.get("title") or ""
        if url or title:
            lines[f"{title}: {url}" if title and url and title != url else url or title] = None
    return "\n".join(lines)


def _text(content: Any) -> str:
    """The words in the content of a result block, whatever its kind."""
    match content:
        case str():
            return content
        case list():
            found = links(block for block in content if _mapping(block).get("url"))
            return found or "\n".join(filter(None, (_text(block) for block in content)))
        case {"type": "text", "text": str(text)}:
            return text
        case {"stdout": out, **rest}:
            return "\n".join(str(text) for text in (out, rest.get("stderr")) if text)
        case {"url": str(url), **rest}:
            source = _mapping(_mapping(rest.get("content")).get("source"))
            return "\n".join(filter(None, (url, str(source.get("data") or ""))))
        case {"content": inner}:
            return _text(inner)
        case {"lines": list(lines)}:
            return "\n".join(map(str, lines))
    return ""


def _arguments(raw: Any) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(raw)) if isinstance(raw, str) else _mapping(raw)
    except ValueError:
        return {"arguments": raw}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
