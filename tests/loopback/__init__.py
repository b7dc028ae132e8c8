"""Scripted model servers on loopback, in OpenAI's and Anthropic's streaming protocols."""
