"""Asks language models over OpenAI's /v1/chat/completions, and keeps every answer."""
