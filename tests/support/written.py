"""A connection of a server without a network."""

import asyncio


class Written(asyncio.Transport):
    """A transport that keeps what is written to it, piece by piece."""

    def __init__(self):
        super().__init__()
        self.pieces, self.closed = [], False

    def write(self, data):
        self.pieces.append(bytes(data))

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed

    def can_write_eof(self):
        return True

    def write_eof(self):
        pass

    def pause_reading(self):
        pass

    resume_reading = pause_reading
