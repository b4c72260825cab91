"""Studies of metrics: what pushes them, what they notice, and whether their assumptions hold."""
