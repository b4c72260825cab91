"""Chats: conversations, and replies with what they answer."""
