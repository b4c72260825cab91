"""Logs and results of tools that run or watch chatbots."""
