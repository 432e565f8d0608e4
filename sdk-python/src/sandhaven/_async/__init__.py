"""The hand-written half of the client, for asyncio; `_sync` is made from it."""
