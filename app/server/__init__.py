"""What runs beside the pages: the WebSocket of a drag, background jobs, garbage collection, facts about the machine."""
