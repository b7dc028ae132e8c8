"""OpenAI's responses: what ChatGPT's and some of Copilot's models are asked by."""
