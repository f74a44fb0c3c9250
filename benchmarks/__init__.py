"""Speed and memory, beside the work that cannot be avoided and beside the peers a user would pick instead."""
