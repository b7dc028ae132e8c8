"""The providers known by name: a table, as data.

Ids and environment names are those OpenCode uses, so that its configuration and `auth.json` fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

COMPATIBLE = "@ai-sdk/openai-compatible"


@dataclass(frozen=True, slots=True)
class Known:
    """`vendor` is the provider's name in the price table and its prefix in litellm.

    Of `defaults` and `small` the first name that exists is taken. A `gateway` serves more models than can
    be listed: `models` names some, every other name is passed on.
    """

    id: str
    name: str
    npm: str
    vendor: str
    env: tuple[str, ...] = ()
    """Names that may hold the key; a provider without any finds its credentials itself."""
    defaults: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    protocol: Literal["openai", "responses", "anthropic", "litellm"] = "litellm"
    base_url: str = ""
    models: tuple[str, ...] = ()
    gateway: bool = False
    key_url: str = ""
    """What only a valid key opens, where that is not just the list of models at `base_url`."""
    key_header: str = ""
    """The header that carries the key; it is a bearer token where none is named."""

    @property
    def prefix(self) -> str:
        """What litellm wants before the model's name."""
        return f"{self.vendor}/" if self.protocol == "litellm" else ""


_FIREWORKS = "accounts/fireworks/models/"

_TABLE = (
    Known(
        id="anthropic",
        name="Anthropic",
        npm="@ai-sdk/anthropic",
        vendor="anthropic",
        env=("ANTHROPIC_API_KEY",),
        defaults=("claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5"),
        small=("claude-haiku-5-5", "claude-haiku-4-5"),
        protocol="anthropic",
        base_url="https://api.anthropic.com/v1",
        key_url="https://api.anthropic.com/v1/models?limit=1000",
        key_header="x-api-key",
    ),
    Known(
        id="openai",
        name="OpenAI",
        npm="@ai-sdk/openai",
        vendor="openai",
        env=("OPENAI_API_KEY",),
        defaults=("gpt-6.1-sol", "gpt-6-sol", "gpt-5.6-terra", "gpt-5.4", "gpt-5.2", "gpt-5"),
        small=("gpt-6-luna", "gpt-5.6-luna", "gpt-5.4-mini", "gpt-5-mini"),
        protocol="responses",
        base_url="https://api.openai.com/v1",
    ),
    Known(
        id="google",
        name="Google",
        npm="@ai-sdk/google",
        vendor="gemini",
        env=("GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"),
        defaults=("gemini-pro-latest", "gemini-2.5-pro"),
        small=("gemini-flash-lite-latest", "gemini-2.5-flash-lite"),
        key_url="https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000",
        key_header="x-goog-api-key",
    ),
    Known(
        id="openrouter",
        name="OpenRouter",
        npm="@openrouter/ai-sdk-provider",
        vendor="openrouter",
        env=("OPENROUTER_API_KEY",),
        models=(
            "openrouter/auto",
            "anthropic/claude-sonnet-4.5",
            "anthropic/claude-haiku-4.5",
            "openai/gpt-5",
            "openai/gpt-5-mini",
            "google/gemini-2.5-pro",
        ),
        defaults=("openrouter/auto",),
        small=("openai/gpt-5-mini",),
        gateway=True,
        key_url="https://openrouter.ai/api/v1/models/user",
        protocol="openai",
        base_url="https://openrouter.ai/api/v1",
    ),
    Known(
        id="groq",
        name="Groq",
        npm="@ai-sdk/groq",
        vendor="groq",
        env=("GROQ_API_KEY",),
        defaults=("openai/gpt-oss-120b",),
        small=("openai/gpt-oss-20b",),
        protocol="openai",
        base_url="https://api.groq.com/openai/v1",
    ),
    Known(
        id="mistral",
        name="Mistral",
        npm="@ai-sdk/mistral",
        vendor="mistral",
        env=("MISTRAL_API_KEY",),
        defaults=("devstral-latest", "mistral-medium-latest"),
        small=("mistral-small-latest",),
        protocol="openai",
        base_url="https://api.mistral.ai/v1",
    ),
    Known(
        id="deepseek",
        name="DeepSeek",
        npm="@ai-sdk/deepseek",
        vendor="deepseek",
        env=("DEEPSEEK_API_KEY",),
        defaults=("deepseek-v4-pro", "deepseek-chat"),
        small=("deepseek-v4-flash", "deepseek-chat"),
        protocol="openai",
        base_url="https://api.deepseek.com",
    ),
    Known(
        id="xai",
        name="xAI",
        npm="@ai-sdk/xai",
        vendor="xai",
        env=("XAI_API_KEY",),
        defaults=("grok-4.7", "grok-4.5", "grok-code-fast-1"),
        small=("grok-code-fast-1",),
        protocol="openai",
        base_url="https://api.x.ai/v1",
    ),
    Known(
        id="cerebras",
        name="Cerebras",
        npm="@ai-sdk/cerebras",
        vendor="cerebras",
        env=("CEREBRAS_API_KEY",),
        defaults=("gpt-oss-120b",),
        small=("llama3.1-8b",),
        protocol="openai",
        base_url="https://api.cerebras.ai/v1",
    ),
    Known(
        id="togetherai",
        name="Together AI",
        npm="@ai-sdk/togetherai",
        vendor="together_ai",
        env=("TOGETHER_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY"),
        defaults=("moonshotai/Kimi-K3", "zai-org/GLM-4.6", "openai/gpt-oss-120b"),
        small=("Qwen/Qwen3.5-9B", "openai/gpt-oss-120b"),
        protocol="openai",
        base_url="https://api.together.xyz/v1",
    ),
    Known(
        id="fireworks-ai",
        name="Fireworks AI",
        npm="@ai-sdk/fireworks",
        vendor="fireworks_ai",
        env=("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
        defaults=(f"{_FIREWORKS}kimi-k3", f"{_FIREWORKS}glm-4p6"),
        small=(f"{_FIREWORKS}gpt-oss-20b",),
        protocol="openai",
        base_url="https://api.fireworks.ai/inference/v1",
    ),
    Known(
        id="deepinfra",
        name="Deep Infra",
        npm="@ai-sdk/deepinfra",
        vendor="deepinfra",
        env=("DEEPINFRA_API_KEY",),
        defaults=("moonshotai/Kimi-K3", "zai-org/GLM-4.6"),
        small=("openai/gpt-oss-20b",),
        key_url="https://api.deepinfra.com/v1/me",
        protocol="openai",
        base_url="https://api.deepinfra.com/v1/openai",
    ),
    Known(
        id="moonshotai",
        name="Moonshot AI",
        npm="@ai-sdk/moonshotai",
        vendor="moonshot",
        env=("MOONSHOT_API_KEY",),
        defaults=("kimi-k3", "kimi-k2.5"),
        protocol="openai",
        base_url="https://api.moonshot.ai/v1",
    ),
    Known(
        id="zai",
        name="Z.AI",
        npm="zhipu-ai-provider",
        vendor="zai",
        env=("ZHIPU_API_KEY", "ZAI_API_KEY"),
        defaults=("glm-5.3", "glm-4.6"),
        small=("glm-5.3-flash", "glm-4.5-air"),
        protocol="openai",
        base_url="https://api.z.ai/api/paas/v4",
    ),
    Known(
        id="huggingface",
        name="Hugging Face",
        npm="@ai-sdk/huggingface",
        vendor="huggingface",
        env=("HF_TOKEN",),
        models=("openai/gpt-oss-120b", "moonshotai/Kimi-K2-Instruct", "Qwen/Qwen3-Coder-480B-A35B-Instruct"),
        defaults=("openai/gpt-oss-120b",),
        gateway=True,
        protocol="openai",
        base_url="https://router.huggingface.co/v1",
        key_url="https://huggingface.co/api/whoami-v2",
    ),
    Known(
        id="cohere",
        name="Cohere",
        npm="@ai-sdk/cohere",
        vendor="cohere_chat",
        env=("COHERE_API_KEY", "CO_API_KEY"),
        defaults=("command-a-03-2025",),
        key_url="https://api.cohere.com/v1/models?page_size=1000",
    ),
    Known(
        id="perplexity",
        name="Perplexity",
        npm="@ai-sdk/perplexity",
        vendor="perplexity",
        env=("PERPLEXITY_API_KEY",),
        protocol="openai",
        base_url="https://api.perplexity.ai",
    ),
    Known(id="azure", name="Azure OpenAI", npm="@ai-sdk/azure", vendor="azure"),
    Known(id="amazon-bedrock", name="Amazon Bedrock", npm="@ai-sdk/amazon-bedrock", vendor="bedrock"),
    Known(id="google-vertex", name="Google Vertex AI", npm="@ai-sdk/google-vertex", vendor="vertex_ai"),
)

_COPILOT = Known(
    id="github-copilot",
    name="GitHub Copilot",
    npm="@ai-sdk/github-copilot",
    vendor="github_copilot",
    env=("GITHUB_COPILOT_TOKEN",),
    defaults=("claude-sonnet-5.5", "claude-sonnet-5", "claude-sonnet-4.6"),
    small=("claude-haiku-5.5", "gpt-5-mini", "gpt-4o-mini"),
    protocol="openai",
    base_url="https://api.githubcopilot.com",
)
_CHATGPT = Known(
    id="chatgpt",
    name="OpenAI",
    npm="@ai-sdk/openai",
    vendor="chatgpt",
    defaults=("gpt-6.1-sol", "gpt-6-sol", "gpt-5.6-terra", "gpt-5.4", "gpt-5.2"),
    small=("gpt-6-luna", "gpt-5.6-luna", "gpt-5.1-codex-mini"),
    protocol="responses",
    base_url="https://chatgpt.com/backend-api/codex",
)

KNOWN: Mapping[str, Known] = {known.id: known for known in (*_TABLE, _COPILOT)}
SIGNED_IN: Mapping[str, Known] = {"github-copilot": _COPILOT, "openai": _CHATGPT}
"""What a provider is to somebody who has signed in there, by its id."""
LISTED: Mapping[str, Known] = {known.id: known for known in (*KNOWN.values(), _CHATGPT)}
"""Those whose models the price table has, by the id it is asked with."""
BY_NPM: Mapping[str, Known] = {known.npm: known for known in KNOWN.values()}
